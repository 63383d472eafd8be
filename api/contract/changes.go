package contract

// A request of kind Changes asks which rows differ between a retained snapshot and the one that
// answers: since=20261121T010200Z-af55ffd1ca9d. Both are filtered alike.

// SinceParam names the snapshot that rows are compared with.
const SinceParam = "since"

// maxSnapshotID is the length of the longest id of a snapshot.
const maxSnapshotID = 128

// snapshotPattern is what ids of snapshots look like.
const snapshotPattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$"

// exampleSnapshot has the form of an id that a load gives.
const exampleSnapshot = "20261121T010200Z-af55ffd1ca9d"

func sinceParam() Param {
	return Param{
		Name: SinceParam, Type: String, Max: maxSnapshotID, Own: true, Required: true, example: exampleSnapshot,
	}
}

// The kinds of change, and the fields of a record besides those of the row.
var changeKinds = newEnum("change", "added", "removed", "changed")

const (
	changeField = "change"
	wasField    = "was"
)

// ChangeFields are the fields of a record of a change to a record with some fields: what has
// happened to it, its values, and the old ones where they differ, as a JSON object.
func ChangeFields(fields []Field) []Field {
	return record(choice(changeField, changeKinds), fields, null(text(wasField, 0)))
}

// readSince reads the snapshot to compare with.
func (r *Request) readSince(p *Param) {
	id := r.text(r.position)
	switch {
	case !r.withinMax(p, id):
	case !isSnapshotID(id):
		r.fault(Issue{
			Type: "string_pattern_mismatch", Param: p.Name, Input: id, CtxKey: "pattern", CtxText: snapshotPattern,
			Text: "String should match pattern '" + snapshotPattern + "': " + aboutSince,
		})
	}
	r.Since = id
}

// requireSince reports that the snapshot to compare with is not named.
func (r *Request) requireSince() {
	if !r.raw[r.plan.positions[SinceParam]].given {
		issue := missing(SinceParam)
		issue.Text += ": " + aboutSince
		r.fault(issue)
	}
}

const aboutSince = "the id of the snapshot to compare with, which answers of that time have in X-Snapshot-Id"

// isSnapshotID reports whether a text matches snapshotPattern.
func isSnapshotID(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !isLetterOrDigit(c) && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return text != ""
}
