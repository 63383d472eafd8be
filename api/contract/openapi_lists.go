package contract

import "encoding/json"

// itemPattern is the form of a text in a list. A value with a comma or a backslash is possible too,
// but generated clients do not write it with the backslash that it needs.
const itemPattern = `^[^,\\]+$`

// itemSchema is the schema of a value of a list, as it is sent.
func (p *Param) itemSchema() object {
	s := p.schema()
	switch p.Type {
	case String:
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
