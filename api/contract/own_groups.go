package contract

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxOwnGroups is the most bytes of a file of groups: some 30,000 countries in them.
const maxOwnGroups = 1 << 20

// ownHeader is the first line of a file of groups.
var ownHeader = []string{"group", "name", CountryParam}

// ReadGroups reads an operator's own groups of countries: a CSV file in UTF-8 with the columns
// group, name and location_code, a line for each country of a group. The name may be left out after
// the first line of a group. Errors name the line, and are of all lines together.
func ReadGroups(r io.Reader) (all []CountryGroup, err error) {
	file, err := io.ReadAll(io.LimitReader(r, maxOwnGroups+1))
	if err != nil {
		return nil, err
	}
	if len(file) > maxOwnGroups {
		return nil, fmt.Errorf("more than %d bytes", maxOwnGroups)
	}
	lines := csv.NewReader(bytes.NewReader(file))
	lines.FieldsPerRecord, lines.ReuseRecord = len(ownHeader), true
	var wrong []error
	for n := 1; ; n++ {
		cells, failed := lines.Read()
		switch {
		case failed == io.EOF && n > 2:
			SortGroups(all)
			return all, errors.Join(wrong...)
		case failed == io.EOF:
			return nil, fmt.Errorf("no group: want the header %s and a line for each country of a group",
				strings.Join(ownHeader, ","))
		case failed != nil:
			return nil, fmt.Errorf("%w, want %s with commas between them", failed, strings.Join(ownHeader, ","))
		case n == 1:
			cells[0] = strings.TrimPrefix(cells[0], "\ufeff")
			if !slices.Equal(cells, ownHeader) {
				return nil, fmt.Errorf("line 1: the header is %q, want %s", strings.Join(cells, ","),
					strings.Join(ownHeader, ","))
			}
			continue
		}
		at, _ := lines.FieldPos(0)
		if all, failed = addOwn(all, cells[0], cells[1], cells[2]); failed != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", at, failed))
		}
	}
}

// addOwn adds a country to its group, which it adds if there is none.
func addOwn(all []CountryGroup, slug, name, code string) ([]CountryGroup, error) {
	isText := func(text string, most int) bool {
		return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
			!strings.ContainsFunc(text, unicode.IsControl)
	}
	if slug != Slug(slug) || !isText(slug, maxSlug) {
		return all, fmt.Errorf("group %q: want at most %d letters a to z and digits, with single hyphens between "+
			"them, such as %q", slug, maxSlug, cmp.Or(Slug(slug), "region-1"))
	}
	if !isText(code, maxSlug) {
		return all, fmt.Errorf("group %s: location_code %q is no code", slug, code)
	}
	at := slices.IndexFunc(all, func(g CountryGroup) bool { return g.Slug == slug })
	sameName := slices.IndexFunc(all, func(g CountryGroup) bool { return strings.EqualFold(g.Name, name) })
	switch {
	case at < 0 && sameName >= 0: // a question names a group by its name
		return all, fmt.Errorf("group %s: group %s has the name %q already", slug, all[sameName].Slug, name)
	case at < 0 && !isText(name, maxGroupName):
		return all, fmt.Errorf("group %s: name %q: want 1 to %d characters in UTF-8", slug, name, maxGroupName)
	case at < 0:
		return append(all, CountryGroup{Kind: OwnGroup, Slug: slug, Name: name, Members: []string{code}}), nil
	}
	switch g := &all[at]; {
	case name != "" && name != g.Name:
		return all, fmt.Errorf("group %s: name %q, but it was %q before", slug, name, g.Name)
	case slices.Contains(g.Members, code):
		return all, fmt.Errorf("group %s has %s twice", slug, code)
	default:
		g.Members = append(g.Members, code)
		slices.Sort(g.Members)
	}
	return all, nil
}

// maxGroupName is the most characters of the name of a group.
const maxGroupName = 200

// CheckGroups finds own groups that the groups of a list of countries rule out: a slug that is
// there already, or a code that is not in the list.
func CheckGroups(own []CountryGroup, listed *CountryGroups, codes []string) error {
	var wrong []error
	for i := range own {
		g := &own[i]
		if other := cmp.Or(listed.Group(g.Slug), listed.Group(Slug(g.Name))); other != nil {
			wrong = append(wrong, fmt.Errorf("group %s: the list of countries has a group of kind %s with this name; "+
				"choose another one", g.Slug, other.Kind))
		}
		for _, code := range g.Members {
			if !slices.Contains(codes, code) {
				wrong = append(wrong, fmt.Errorf("group %s: location_code %q is not in the list of countries",
					g.Slug, code))
			}
		}
	}
	return errors.Join(wrong...)
}
