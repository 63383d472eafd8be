package api

import (
	"time"

	"hdqs/snapshot/store"
)

// tableSources describes where the tables of a snapshot come from. A manifest of format 1 does not
// say.
func tableSources(m *store.Manifest) []store.TableSource {
	if m.Format < 2 {
		return nil
	}
	all := make([]store.TableSource, len(m.Tables))
	for i, ref := range m.Tables {
		all[i] = m.Source(ref.Table)
	}
	return all
}

// sourceFields are the values of the header fields about the source of a table, empty if answers do
// not have the field. They are the same for all lists of the table, with status 200 and 304.
type sourceFields struct{ updated, stale string }

func fieldsOf(s *store.TableSource) (f sourceFields) {
	if !s.Updated.IsZero() {
		f.updated = dayOf(s.Updated)
	}
	if !s.StaleSince.IsZero() {
		f.stale = "since=" + dayOf(s.StaleSince)
	}
	return f
}

// SourceChanged reports whether the header fields about the source of a table differ between two
// snapshots, so that its lists must be purged even if its rows are the same.
func SourceChanged(from, to *store.Manifest, table string) bool {
	before, after := from.Source(table), to.Source(table)
	return fieldsOf(&before) != fieldsOf(&after)
}

// dayOf is the day of a time in UTC.
func dayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }
