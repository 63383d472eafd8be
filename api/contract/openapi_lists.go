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
		values := make(array, len(p.Enum.Values))
		for i, value := range p.Enum.Values {
			values[i] = listEscapes.Replace(value)
		}
		s[1].value = values
	}
	return s
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
