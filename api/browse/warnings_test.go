package browse

import (
	"net/url"
	"strings"
	"testing"

	"hdqs/api/contract"
)

// groupSource answers every question with the same groups.
type groupSource []string

func (g groupSource) Ask(*contract.Endpoint, contract.Kind, url.Values) (*Answer, error) {
	fields := []string{"location_code", "admin1_code", "admin_level"}
	groups, err := NewRecords(len(g), fields, func(dst []byte, record, field int) []byte {
		return append(dst, strings.Fields(g[record])[field]...)
	})
	return &Answer{Records: groups, Total: len(g)}, err
}

// TestLevels: that figures contain one another is said only of a country, or of a first-level unit,
// that has both its own and those of its units.
func TestLevels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		groups  groupSource
		contain bool
	}{
		"a level for each country":         {groupSource{`"AFG" "AF01" 2`, `"AFG" "AF02" 2`, `"FRA" null 0`, `"TCD" "TD01" 1`}, false},
		"a level for each unit":            {groupSource{`"UKR" "UA01" 2`, `"UKR" "UA02" 1`, `"UKR" "UA03" 2`}, false},
		"a country and its second level":   {groupSource{`"AFG" null 0`, `"AFG" "AF01" 2`}, true},
		"a country and its first level":    {groupSource{`"AFG" "AF01" 1`, `"AFG" null 0`}, true},
		"a unit and its units":             {groupSource{`"AFG" "AF01" 1`, `"AFG" "AF01" 2`}, true},
		"a country and units without code": {groupSource{`"AFG" null 0`, `"AFG" null 2`}, true},
	} {
		text, err := levels(&Question{Plan: new(contract.Plan), Source: c.groups}, state{})
		if err != nil || strings.Contains(text, "contain those") != c.contain {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
