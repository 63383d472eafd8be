package state

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
	"hdqs/snapshot"
)

// Country is a row of the list of countries. Texts that the list does not have are empty.
type Country struct {
	Code, Name     string
	HasHRP, InGHO  bool
	Classes        [len(contract.ClassNames)]string // by contract.Class, as the list names them
	NameRU, NameZH string
}

// Country is a country of the list, nil if its code is not in it.
func (b *Bound) Country(code string) *Country {
	at := slices.IndexFunc(b.Countries, func(c Country) bool { return c.Code == code })
	if at < 0 {
		return nil
	}
	return &b.Countries[at]
}

// NearCodes are the codes of countries that differ from a text in one letter.
func (b *Bound) NearCodes(text string) []string {
	var all []string
	for _, c := range b.Countries {
		all = append(all, c.Code)
	}
	return nearest.All(strings.ToUpper(text), all, 1)
}

// setCountries reads the list of countries, and makes the groups of it, with an operator's own.
func (b *Bound) setCountries(own []contract.CountryGroup) {
	var classified bool
	b.Countries, classified = countriesIn(b.Snap.Segments["location"])
	b.Groups = contract.NewCountryGroups(groupsOf(b.Countries, classified, own), !classified)
}

// ErrOwnGroups is the error of groups that do not go with the list of countries of a snapshot.
var ErrOwnGroups = errors.New("--groups")

// checkGroups finds mistakes in an operator's own groups.
func (b *Bound) checkGroups(own []contract.CountryGroup) error {
	if own == nil {
		return nil
	}
	listed := contract.NewCountryGroups(groupsOf(b.Countries, !b.Groups.Lacking, nil), b.Groups.Lacking)
	codes := make([]string, len(b.Countries))
	for i := range codes {
		codes[i] = b.Countries[i].Code
	}
	if err := contract.CheckGroups(own, listed, codes); err != nil {
		return fmt.Errorf("%w: %w", ErrOwnGroups, err)
	}
	return nil
}

// groupsOf are the groups that the list of countries makes, and those of an operator: of two with
// one slug, the operator's.
func groupsOf(countries []Country, classified bool, own []contract.CountryGroup) []contract.CountryGroup {
	all := slices.Clone(own)
	add := func(kind, slug, name, code string) {
		at := slices.IndexFunc(all, func(g contract.CountryGroup) bool { return g.Slug == slug })
		switch {
		case at < 0:
			all = append(all, contract.CountryGroup{Kind: kind, Slug: slug, Name: name, Members: []string{code}})
		case all[at].Kind == kind:
			all[at].Members = append(all[at].Members, code)
		}
	}
	for i := range countries {
		c := &countries[i]
		for class, name := range c.Classes {
			if class == int(contract.IncomeClass) && name != "" {
				name += " income"
			}
			if slug := contract.Slug(name); slug != "" {
				add(contract.ClassKinds[class], slug, name, c.Code)
			}
		}
		if classified && c.HasHRP {
			add(contract.PlanGroup, "has-hrp", "Countries with a humanitarian response plan", c.Code)
		}
		if classified && c.InGHO {
			add(contract.PlanGroup, "in-gho", "Countries in the Global Humanitarian Overview", c.Code)
		}
	}
	for i := range all {
		slices.Sort(all[i].Members)
	}
	contract.SortGroups(all)
	return all
}

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
		for i, name := range contract.ClassNames {
			if name != "" {
				c.Classes[i] = text(name, row)
			}
		}
		all = append(all, c)
	}
	_, err := seg.Column(contract.ClassNames[contract.RegionClass])
	return all, err == nil
}
