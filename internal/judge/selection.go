package judge

import (
	"slices"
	"strings"
	"time"
)

// selection is what is kept of the rows that pass all filters: those of the coarsest places, and of
// these the newest of each series or those of the newest editions.
type selection struct {
	coarsest, latest, edition bool
	everybody                 bool // which is a filter, but of two values that count as one
}

// editionFields are the fields that editions have in common besides the country and its level, by
// the last part of the path. Other lists have no editions.
var editionFields = map[string][]string{
	"idps": nil, "operational-presence": nil, "baseline-population": nil, "national-risk": nil, "poverty-rate": nil,
	"humanitarian-needs": {"population_status", "category"}, "food-security": {"classification_type"},
	"rainfall": {"aggregation_period", "version"}, "funding": nil,
	"returnees": {"population_group"}, "refugees-persons-of-concern": {"population_group"},
}

// wholeLists are those whose newest period is that of the list.
var wholeLists = []string{"returnees", "refugees-persons-of-concern"}

// everybodyFields are the dimensions with values that mean everybody, by the last part of the path.
var everybodyFields = map[string][]string{
	"humanitarian-needs": {"category"}, "baseline-population": {"gender", "age_range"},
	"returnees": {"gender", "age_range"}, "refugees-persons-of-concern": {"gender", "age_range"},
}

func meansEverybody(field string, value any) bool {
	if field == "category" {
		return value == nil || value == "" || value == "total"
	}
	return value == "all"
}

// readSelection reads latest and everybody; admin_level=coarsest has been read with the filters.
// Lists without dates have no latest.
func (rd *reader) readSelection(e *endpoint) {
	name := lastPart(e.Path)
	if value, sent := rd.q.last("latest"); sent && e.series != nil {
		_, has := editionFields[name]
		ok := value == "edition" && has
		if rd.kept.edition = ok; !ok {
			if rd.kept.latest, ok = parseBool(value); !ok {
				rd.refuse("latest")
			}
		}
	}
	value, sent := rd.q.last("everybody")
	if !sent {
		return
	}
	fields := everybodyFields[name]
	only, ok := parseBool(value)
	if !ok || fields == nil {
		rd.refuse("everybody")
	}
	if rd.kept.everybody = only; only {
		rd.filters = append(rd.filters, func(r row) bool {
			for _, field := range fields {
				if !meansEverybody(field, r.stored[field]) {
					return false
				}
			}
			return true
		})
	}
}

// keep returns the rows that are kept of those that pass. whole are all rows of the list.
func (rd *reader) keep(e *endpoint, rows, whole []row) []row {
	if rd.kept.coarsest {
		rows = coarsest(e, rows)
	}
	switch {
	case rd.kept.latest:
		return newest(func(r row) string { return seriesKey(e, r) }, rows)
	case !rd.kept.edition:
		return rows
	case lastPart(e.Path) == "funding":
		return newestYears(rows)
	case slices.Contains(wholeLists, lastPart(e.Path)):
		return rd.ofWhole(e, rows, whole)
	}
	return newest(func(r row) string { return rd.editionKey(e, r) }, rows)
}

// editionKey is what rows of one edition have in common besides their period.
func (rd *reader) editionKey(e *endpoint, r row) string {
	var columns []string
	if !slices.Contains(wholeLists, lastPart(e.Path)) {
		columns = append(columns, "location_code")
		if e.field("admin_level") != nil && !rd.kept.coarsest {
			columns = append(columns, "admin_level")
		}
	}
	return keyText(append(columns, editionFields[lastPart(e.Path)]...), r, "category")
}

// ofWhole keeps the rows of the newest period of all rows that pass the filters of dates alone.
func (rd *reader) ofWhole(e *endpoint, rows, whole []row) []row {
	dates := rd.only(e, func(name string) bool { return name == "start_date" || name == "end_date" })
	periods := map[string]bool{}
	key := func(r row) string { return rd.editionKey(e, r) }
	for _, r := range newest(key, dates.passing(whole)) {
		periods[key(r)+keyText(periodColumns, r)] = true
	}
	var kept []row
	for _, r := range rows {
		if periods[key(r)+keyText(periodColumns, r)] {
			kept = append(kept, r)
		}
	}
	return kept
}

// newestYears keeps the money of the newest year of each country in which there is an appeal. A
// start that is not known is the oldest, in the year 1.
func newestYears(rows []row) (kept []row) {
	year := func(r row) int {
		start, _ := r.stored[periodStart].(time.Time)
		return start.Year()
	}
	best := map[any]int{}
	for _, r := range rows {
		if r.stored["appeal_type"] != nil {
			best[r.stored["location_code"]] = max(best[r.stored["location_code"]], year(r))
		}
	}
	for _, r := range rows {
		if best[r.stored["location_code"]] == year(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// hasCode reports whether the place of a row has a code of its own at a level.
func hasCode(r row, unit string) bool {
	code, _ := r.stored[unit+"_code"].(string)
	return !strings.HasSuffix(code, "-XXX")
}

// seriesKey is what rows of one series have in common. A place that has a code is that code.
func seriesKey(e *endpoint, r row) string {
	return keyText(slices.DeleteFunc(slices.Clone(e.series), func(column string) bool {
		unit := strings.TrimSuffix(strings.TrimPrefix(column, "provider_"), "_name")
		return strings.HasSuffix(column, "_name") && strings.HasPrefix(unit, "admin") && hasCode(r, unit)
	}), r)
}

// fieldsKey is what a row has in common with those whose place contains its own, or that its own
// contains, besides the period.
func fieldsKey(e *endpoint, r row) string {
	columns := slices.DeleteFunc(slices.Clone(e.series), func(column string) bool {
		return strings.Contains(column, "admin")
	})
	return keyText(append(columns, "location_code"), r, everybodyFields[lastPart(e.Path)]...)
}

// containsPlace reports whether the place of a row contains that of another of the same country: by
// its code, or as the provider calls it.
func containsPlace(whole, part row) bool {
	level, of := whole.stored["admin_level"].(int64), part.stored["admin_level"].(int64)
	switch {
	case level >= of:
		return false
	case level == 0:
		return true
	}
	name, _ := whole.stored["provider_admin1_name"].(string)
	code, _ := whole.stored["provider_admin1_code"].(string)
	sameCode := whole.stored["admin1_code"] == part.stored["admin1_code"]
	sameNames := whole.stored["provider_admin1_name"] == part.stored["provider_admin1_name"] &&
		whole.stored["provider_admin1_code"] == part.stored["provider_admin1_code"]
	return sameCode && (sameNames || hasCode(whole, "admin1")) || sameNames && name+code != ""
}

// lowestLevel is the level of places that contain no others.
const lowestLevel = 2

// coarsest keeps the rows whose place is in no place of another row of the same fields and period.
func coarsest(e *endpoint, rows []row) (kept []row) {
	keys, like := make([]string, len(rows)), map[string][]row{}
	for i, r := range rows {
		keys[i] = fieldsKey(e, r) + keyText(periodColumns, r)
		if r.stored["admin_level"].(int64) < lowestLevel {
			like[keys[i]] = append(like[keys[i]], r)
		}
	}
	for i, r := range rows {
		if !slices.ContainsFunc(like[keys[i]], func(other row) bool { return containsPlace(other, r) }) {
			kept = append(kept, r)
		}
	}
	return kept
}
