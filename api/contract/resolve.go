package contract

import (
	"fmt"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/index"
	"hdqs/internal/nearest"
)

// Resolve gives a question the groups of countries of the snapshot that answers it. The error is
// *Invalid if there is no such group.
func Resolve(q *Question, g *CountryGroups) error {
	if q.countries = g; q.GroupsDigest() == "" {
		return nil
	}
	var issues []Issue
	for i := range q.Filters {
		p := &q.plan.Params[q.Filters[i].Param]
		for _, slug := range q.Texts(p.Name) {
			if p.Grouped && g.Group(slug) == nil {
				issues = append(issues, g.unknown(p.Name, slug))
			}
		}
	}
	for param, groups := range map[string][]Group{groupParam: q.Groups, ofParam: q.Of} {
		for _, of := range groups {
			if of.Class != NoClass && g.Lacking {
				issues = append(issues, valueError(param, className(q.plan.Endpoint, of), seeGroups))
			}
		}
	}
	if issues != nil {
		return &Invalid{Issues: issues}
	}
	return nil
}

// WhyLacking is why a snapshot has no groups by classes.
const WhyLacking = "the countries of this snapshot have no regions and incomes, since the list that it was made " +
	"from does not say them"

// seeGroups leads to the groups that there are.
const seeGroups = WhyLacking + "; see " + GroupsPath + " for the groups that there are"

// unknown is the issue of a group that is not there.
func (g *CountryGroups) unknown(param, slug string) Issue {
	var slugs []string
	for i := range g.All {
		slugs = append(slugs, g.All[i].Slug)
	}
	near := nearest.Several(Slug(slug), slugs, maxNear)
	reason := fmt.Sprintf("%q is no group of countries; ", slug)
	switch {
	case len(near) > 0:
		reason += "near ones: " + strings.Join(near, ", ") + "; all are at " + GroupsPath
	case g.Lacking:
		reason += seeGroups
	default:
		reason += "all are at " + GroupsPath
	}
	issue := valueError(param, slug, reason)
	if len(near) > 0 {
		issue.Details.Meant = near[0]
	}
	return issue
}

// GroupsDigest is a digest of the groups of countries that the answer depends on, empty if it
// depends on none.
func (q *Question) GroupsDigest() string {
	hasClass := func(g Group) bool { return g.Class != NoClass }
	if slices.ContainsFunc(q.Filters, func(f Filter) bool { return q.plan.Params[f.Param].Grouped }) ||
		slices.ContainsFunc(q.Groups, hasClass) || slices.ContainsFunc(q.Of, hasClass) {
		return q.countries.Digest
	}
	return ""
}

// Values are the value and the values of a filter, by which rows are chosen: of a filter by groups
// the codes of their countries. The question must be resolved: no row may pass because a group is
// not known.
func (q *Question) Values(f *Filter) (value index.Value, several []index.Value) {
	if !q.plan.Params[f.Param].Grouped {
		return f.Value, f.Values
	}
	for _, code := range q.MembersOf(f) {
		several = append(several, index.Value{Text: code})
	}
	return value, several // a group without countries keeps rows without a code: there are none
}

// MembersOf are the codes of the countries that a filter by groups keeps.
func (q *Question) MembersOf(f *Filter) (codes []string) {
	for _, slug := range q.Texts(q.plan.Params[f.Param].Name) {
		codes = append(codes, q.countries.Group(slug).Members...)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Classes are what a field is grouped by, nil if it is not by a class.
func (q *Question) Classes(g Group) *aggregate.Classes {
	if g.Class == NoClass {
		return nil
	}
	return q.countries.classes[g.Class]
}
