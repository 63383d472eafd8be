package state

import (
	"strings"

	"hdqs/snapshot"
)

// Country is a row of the list of countries. Texts that the list does not have are empty.
type Country struct {
	Code, Name     string
	HasHRP, InGHO  bool
	Classes        [4]string // by position of classColumns, as the list names them
	NameRU, NameZH string
}

// classColumns are the columns with what countries are grouped by.
var classColumns = [...]string{"region", "subregion", "intermediate_region", "income_group"}

// countriesIn reads the list of countries; nil is one without rows. Classified is whether it has
// the columns of classes: those of earlier loads do not. The texts are copies, which outlive the
// segment.
func countriesIn(seg *snapshot.Segment) (all []Country, classified bool) {
	if seg == nil {
		return nil, false
	}
	text := func(name string, row int) string {
		c, err := seg.Column(name)
		if err != nil || c.IsNull(c.Position(uint32(row))) {
			return ""
		}
		return strings.Clone(c.Text(c.Position(uint32(row))))
	}
	flag := func(name string, row int) bool {
		c, err := seg.Column(name)
		return err == nil && c.Int(c.Position(uint32(row))) == 1
	}
	for row := range seg.Rows() {
		c := Country{
			Code: text("code", row), Name: text("name", row),
			NameRU: text("name_ru", row), NameZH: text("name_zh", row),
			HasHRP: flag("has_hrp", row), InGHO: flag("in_gho", row),
		}
		for i, name := range classColumns {
			c.Classes[i] = text(name, row)
		}
		all = append(all, c)
	}
	_, err := seg.Column(classColumns[0])
	return all, err == nil
}
