package contract

import (
	"regexp"
	"slices"

	"hdqs/aggregate"
	"hdqs/api/say"
)

// kindParams returns the parameters that requests of a kind have besides filters and page.
func kindParams(e *Endpoint, k Kind) []Param {
	names := func(name string, kind *ParamKind, choices []string, example string) Param {
		return Param{
			Name: name, Type: Choice, Enum: &Enum{Name: name, Values: choices}, List: true, Own: kind,
			Required: kind.issue != nil, example: example,
		}
	}
	classes, _ := classGroups(e)
	groups := append(e.GroupNames(), classes...)
	fields := names(FieldsParam, fieldsKind, FieldNames(e.Fields), "")
	latest := e.selectionParams()
	switch k {
	case Aggregate:
		return slices.Concat([]Param{
			names(groupParam, groupKind, groups, e.exampleGroup()),
			{Name: measureParam, Type: String, List: true, Own: measureKind, example: aggregate.Count.String()},
		}, latest)
	case Facets:
		return slices.Concat([]Param{names(ofParam, ofKind, groups, e.exampleGroup())}, latest)
	case Changes:
		return slices.Concat([]Param{fields}, latest, []Param{{
			Name: SinceParam, Type: String, Max: maxSnapshotID, Own: sinceKind, Required: true,
			example: exampleSnapshot,
		}})
	case Export:
		return slices.Concat([]Param{fields}, latest, []Param{{
			Name: compressionParam, Type: Choice, Enum: compressions, Default: "none", Own: compressionKind,
		}})
	case Figures:
		return latest // its records are whole
	}
	return slices.Concat([]Param{fields}, latest)
}

// A request of kind Changes asks which rows differ between a retained snapshot and the one that
// answers: since=20261121T010200Z-af55ffd1ca9d. Both are filtered alike.

// SinceParam names the snapshot that rows are compared with.
const SinceParam = "since"

const (
	maxSnapshotID   = 128 // length of the longest id of a snapshot
	snapshotPattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$"
	exampleSnapshot = "20261121T010200Z-af55ffd1ca9d" // has the form of an id that a load gives
	aboutSince      = "the id of the snapshot to compare with, which answers of that time have in X-Snapshot-Id"
)

var snapshotForm = regexp.MustCompile(snapshotPattern)

var sinceKind = &ParamKind{
	read: func(r *Request, p *Param) {
		r.Question.Since = r.Scanned.text(r.position)
		if r.withinMax(p, r.Question.Since) && !snapshotForm.MatchString(r.Question.Since) {
			r.fault(Issue{
				Type: "string_pattern_mismatch", Param: p.Name, Input: r.Question.Since,
				Text:    say.Of("String should match pattern '" + snapshotPattern + "': " + aboutSince),
				Details: &Details{Key: "pattern", Text: snapshotPattern},
			})
		}
	},
	write: func(q *Question) string { return q.Since },
	issue: func(_ *Endpoint, kind, text string) Issue {
		return Issue{Type: kind, Param: SinceParam, Text: say.Of(text + ": " + aboutSince), NullInput: true}
	},
}

// ChangeKinds are the kinds of change, in the order of tables of their numbers.
var ChangeKinds = newEnum("change", "added", "removed", "changed")

// The fields of a record of a change besides those of the row.
const (
	ChangeField = "change"
	WasField    = "was"
)

// ChangeFields are the fields of a record of a change to a record with some fields: what has
// happened to it, its values, and the old ones where they differ, as a JSON object.
func ChangeFields(fields []Field) []Field {
	kind := Field{Name: ChangeField, Type: Choice, Enum: ChangeKinds}
	return slices.Concat([]Field{kind}, fields, null(text(WasField, 0)))
}
