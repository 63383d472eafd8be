package contract

import (
	"encoding/json"
	"strings"
)

// itemPattern is the form of a text in a list. A value with a comma or a backslash is possible too,
// but generated clients do not write it with the backslash that it needs.
const itemPattern = `^[^,\\]+$`

// itemSchema is the schema of a value of a list, as it is sent.
func (e *Endpoint) itemSchema(p *Param) object {
	s := p.schema()
	switch p.Type {
	case String:
		if p.Name == measureParam {
			return append(s, member{"pattern", e.measurePattern()})
		}
		s = append(s, member{"pattern", itemPattern})
	case Choice:
		s[1].value = p.listedValues()
	}
	return s
}

// listedValues are the values of an enumeration that are described for lists. Values with a comma
// are accepted too, with a backslash before it, as the description says. They are left out, since
// generated R does not parse with a backslash in a value.
func (p *Param) listedValues() []string {
	var values []string
	for _, value := range p.Enum.Values {
		if listEscapes.Replace(value) == value {
			values = append(values, value)
		}
	}
	return values
}

// listExample is the example as JSON.
func (p *Param) listExample() array {
	var all array
	for _, text := range p.exampleList() {
		if p.Type == Integer {
			all = append(all, json.Number(text))
		} else {
			all = append(all, text)
		}
	}
	return all
}

// measurePattern is the form of a measure: there are too many for an enumeration.
func (e *Endpoint) measurePattern() string {
	choices := []string{Count.String()}
	for f := Count + 1; int(f) < len(funcNames); f++ {
		if fields := e.measured(f); len(fields) > 0 {
			choices = append(choices, f.String()+":("+strings.Join(fields, "|")+")")
		}
	}
	return "^(" + strings.Join(choices, "|") + ")$"
}
