package loader

import (
	"errors"
	"fmt"

	"hdqs/snapshot/store"
)

// exchangeable are the tables of which compareTexts compares texts: their key, and these texts.
var exchangeable = map[string][]string{
	"dataset":  {"dataset_catalog_id", "dataset_catalog_stub", "dataset_catalog_title", "catalog_provider_name"},
	"resource": {"resource_catalog_id", "name", "format"},
	"location": {"code", "name"}, "admin1": {"code", "name"}, "admin2": {"code", "name"}, "sector": {"code", "name"},
	"org_type": {"code", "description"}, "currency": {"code", "name"}, "commodity": {"code", "name"},
	"market": {"code", "name"},
}

// compareTexts counts pairs of rows whose texts have changed places since the last snapshot: names,
// titles and organisations that a publisher has entered at each other's place.
func (l *load) compareTexts(r *result, old store.SegmentRef) {
	columns := exchangeable[old.Table]
	if columns == nil {
		return
	}
	was, err := l.previous.segmentData(old, columns...)
	now, err2 := l.previous.segmentData(r.segments[old.Table], columns...)
	if errors.Join(err, err2) != nil {
		return // a damaged store must not stop the load that repairs it
	}
	for _, name := range columns[1:] {
		before := map[string]string{} // texts by key
		for row := range was.Rows {
			before[rowText(was, columns[0], row)] = rowText(was, name, row)
		}
		changed := map[[2]string]string{} // keys by the texts before and now
		for row := range now.Rows {
			key, text := rowText(now, columns[0], row), rowText(now, name, row)
			from, listed := before[key]
			if other, is := changed[[2]string{text, from}]; is && listed && text != from {
				report := r.report.of(roleOf(old.Table))
				report.odd(&rowFault{file: report.Path, reason: textsExchanged, detail: fmt.Sprintf(
					"%s of %s and %s: now %q and %q", name, other, key, clip(from, 50), clip(text, 50))})
			} else if listed {
				changed[[2]string{from, text}] = key
			}
		}
	}
}
