package odata

import (
	"net/url"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/render"
)

// cells are the values of the records of a page.
type cells interface {
	render.Records
	Total() int
}

// write writes records of a page one by one: the slow twin of the forms of entities, and the only
// way for control information, for whole numbers as texts, and for records that are computed. key
// gives the key of a record.
func (a *request) write(dst []byte, found cells, key func(int) string, state string) []byte {
	for i := range found.Len() + 2 {
		dst = a.piece(dst, found, i, key, state)
	}
	return dst
}

// piece writes a piece of a page: what is before the records, one record, or what is after them.
func (a *request) piece(dst []byte, found cells, i int, key func(int) string, state string) []byte {
	switch {
	case a.key != "":
		if i == 1 {
			dst = a.writeOne(dst, found, key)
		}
		return dst
	case i == 0:
		return append(dst, a.before(found.Total())...)
	case i > found.Len():
		return append(dst, a.after(state, found.Len(), found.Total())...)
	case i > 1:
		dst = append(dst, ',')
	}
	return append(a.properTo(append(dst, '{'), found, i-1, key(i-1)), '}')
}

// writeOne writes the only record of an answer.
func (a *request) writeOne(dst []byte, found cells, key func(int) string) []byte {
	dst = append(dst, '{')
	if a.form.level != none {
		dst = append(render.AppendJSONText(append(dst, `"@odata.context":`...), a.context()+"/$entity"), ',')
	}
	return append(a.properTo(dst, found, 0, key(0)), '}')
}

// properTo appends the properties of a record, with its control information.
func (a *request) properTo(dst []byte, found cells, record int, key string) []byte {
	isFull := a.form.level == full
	if isFull {
		dst = render.AppendJSONText(append(dst, `"@odata.type":`...), "#"+namespace+"."+a.of.Name)
		quoted := strings.ReplaceAll(url.PathEscape(strings.ReplaceAll(key, "'", "''")), "%27", "'")
		id := a.base + a.of.Name + "('" + quoted + "')"
		dst = append(render.AppendJSONText(append(dst, `,"@odata.id":`...), id), ',')
	}
	for i, n := 0, 0; i < len(a.of.Properties); i++ {
		if a.selected != nil {
			if n == len(a.selected) || a.selected[n] != i {
				continue
			}
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		p := &a.of.Properties[i]
		if isFull && (p.kind == integer || p.kind == day || p.kind == instant) {
			dst = append(append(append(dst, '"'), p.Name...), `@odata.type":"#`...)
			dst = append(append(dst, strings.TrimPrefix(p.EDM(), "Edm.")...), `",`...)
		}
		dst = append(append(append(dst, '"'), p.Name...), `":`...)
		if p.isKey() {
			dst = render.AppendJSONText(dst, key)
		} else {
			dst = a.form.appendCell(dst, p, found.AppendCell(nil, record, i, false))
		}
	}
	return dst
}

// appendCell appends a value that is given as lists have it.
func (f form) appendCell(dst []byte, p *property, cell []byte) []byte {
	switch isText := len(cell) > 0 && cell[0] == '"'; {
	case p.kind == day && isText:
		return append(append(dst, cell[:len(`"2024-05-17`)]...), '"')
	case p.kind == instant && isText:
		return append(append(dst, cell[:len(cell)-1]...), `Z"`...)
	case p.kind == integer && f.quoted && cell[0] != 'n':
		return append(append(append(dst, '"'), cell...), '"')
	}
	return append(dst, cell...)
}

// valueOf is a value of a computed record.
func (p *property) valueOf(v aggregate.Value) value {
	switch {
	case v.Kind == aggregate.Null, v.Kind == aggregate.Differ:
		return value{}
	case v.Kind == aggregate.Text:
		return value{kind: text, text: strings.Clone(v.Text)}
	case v.Kind == aggregate.Bool:
		return value{kind: boolean, int: v.Int}
	case p.kind == day:
		return value{kind: day, int: dayOf(v.Int)}
	case p.kind == instant:
		return value{kind: instant, int: v.Int}
	case p.kind == integer && v.Kind == aggregate.Int && v.Text == "":
		return value{kind: integer, int: v.Int}
	}
	return value{kind: float, float: v.Number()}
}
