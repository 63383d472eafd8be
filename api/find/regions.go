package find

import (
	"strings"

	"hdqs/api/contract"
)

// addGroup uses a part that names a group of countries. In a movement the side before it says
// whose. Beside a place it is left over: people of a group in a country are not all people there.
func (x *parser) addGroup(p *part, slug string) {
	q, plan := x.question, contract.PlanOf(x.endpoint(), contract.Rows)
	for _, other := range x.parts {
		isPlace := len(x.placesOf(other)) > 0 || other != p && len(x.unitsOf(other, nil)) > 0
		if isPlace && !other.isTopic(false) {
			return
		}
	}
	for _, side := range []string{"", "asylum_", "origin_"} {
		name := side + contract.GroupParam
		if plan.Param(name) == nil || side != "" && p.isOrigin() != (side == "origin_") {
			continue
		}
		if p.used = q.of[0] == ""; p.used {
			q.of, q.asked = [2]string{name, slug}, append(q.asked, p.written)
		}
		return
	}
}

// isOfGroup reports whether an answer is a figure of a group of countries that is one sum.
func (a *answer) isOfGroup() bool {
	return a.of[0] != "" && a.figure != nil && a.at.country == none && a.figure.IsPlain() &&
		a.figure.Place == strings.TrimSuffix(a.of[0], contract.GroupParam)+contract.CountryParam &&
		(strings.HasPrefix(a.figure.Measures[0], "sum:") || strings.HasPrefix(a.figure.Measures[0], "distinct"))
}
