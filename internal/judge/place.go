package judge

import (
	"strings"
	"time"
)

// place computes what a row prints of its place: the level from the units and the provider's names,
// and from the level which of the four stored codes and names are shown.
func place(e *endpoint, r row) {
	text := func(name string) string { s, _ := r.stored[name].(string); return s }
	level := int64(0)
	_, hasUnit2 := r.stored["admin2_is_unspecified"]
	switch {
	case lastPart(e.Path) == "data-availability":
		level = r.stored["admin_level"].(int64)
	case hasUnit2 && (text("provider_admin2_name") != "" || r.stored["admin2_is_unspecified"] == false):
		level = 2
	case text("provider_admin1_name") != "" || r.stored["admin1_is_unspecified"] == false:
		level = 1
	}
	r.stored["admin_level"] = level
	for n, unit := range []string{"admin1", "admin2"} {
		r.shown[unit+"_code"], r.shown[unit+"_name"] = nil, nil
		if level > int64(n) {
			r.shown[unit+"_code"] = text(unit + "_code")
			r.shown[unit+"_name"] = shownName(text(unit+"_name"), text("provider_"+unit+"_name"))
		}
	}
}

func shownName(stored, provider string) string {
	if (stored == "" || strings.EqualFold(stored, "unspecified")) && provider != "" {
		return provider
	}
	return stored
}

var availabilityColumns = []string{
	"category", "subcategory", "location_name", "location_code",
	"admin1_name", "admin1_code", "admin2_name", "admin2_code", "admin_level", "api_updated_date",
}

// availability derives the list of available data from the data rows.
func (w *world) availability(target *endpoint) []row {
	updated := map[any]time.Time{}
	for _, r := range w.rows[pathPrefix+"metadata/resource"] {
		updated[r.stored["resource_catalog_id"]] = r.stored["api_updated_date"].(time.Time)
	}
	var rows []row
	seen := map[string]bool{}
	add := func(e *endpoint, r row, prefix string) {
		at, known := updated[r.stored["resource_catalog_id"]]
		if !known {
			at = w.loadTime
		}
		entry := map[string]any{
			"category": e.Group, "subcategory": lastPart(e.Path),
			"location_name": r.stored[prefix+"location_name"], "location_code": r.stored[prefix+"location_code"],
			"admin1_name": "", "admin1_code": "", "admin2_name": "", "admin2_code": "",
			"admin_level": int64(0), "api_updated_date": at,
		}
		if lastPart(e.Path) == "rainfall" {
			entry["subcategory"] = "hazards-rainfall"
		}
		for name := range entry {
			if v, ok := r.stored[name]; ok && strings.HasPrefix(name, "admin") {
				entry[name] = v
			}
		}
		derived := newRow()
		derived.stored = entry
		if key := keyText(availabilityColumns, derived); !seen[key] {
			seen[key] = true
			place(target, derived)
			rows = append(rows, derived)
		}
	}
	for _, e := range w.contract.Paths {
		if e.Group == "metadata" {
			continue
		}
		for _, r := range w.rows[e.Path] {
			if e.field("origin_location_code") != nil {
				add(e, r, "origin_")
				add(e, r, "asylum_")
				continue
			}
			add(e, r, "")
		}
	}
	return rows
}
