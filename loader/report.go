package loader

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The reasons of rows. Those of single values are in builder_read.go.
const (
	raggedRow       reason = "ragged_row"
	rowTooLong      reason = "row_too_long"
	invalidUTF8     reason = "invalid_utf8"
	misplacedQuote  reason = "misplaced_quote"
	unknownLocation reason = "unknown_location"
	unknownParent   reason = "unknown_parent"
	unknownLevel    reason = "unknown_level"
	unknownResource reason = "unknown_resource"
	unknownListed   reason = "not_in_list" // an organisation, sector, market or commodity that its list does not have
	noCode          reason = "no_code"
	codeTwice       reason = "code_twice"
)

// maxExamples is how many examples of each reason a report keeps.
const maxExamples = 5

// Report is what a load did, for people and for programs. Field names are stable.
type Report struct {
	Format       int       `json:"format"`
	Catalog      string    `json:"catalog"`
	CatalogURL   string    `json:"catalog_url"`
	Snapshot     string    `json:"snapshot"`
	SnapshotTime time.Time `json:"snapshot_time"`

	// Outcome is "published", or "unchanged" when every table equals that of the store's current
	// snapshot, which then stays.
	Outcome string `json:"outcome"`

	// Partial says that a source was refused or kept from an older snapshot, that a file has a
	// fault, that our own checks dropped rows, or that rows are gone or missing (Fell, Empty).
	// Rows that upstream marked in error, skipped units and unknown resources do not count.
	Partial bool `json:"partial"`

	Fetched      *FetchReport      `json:"fetched,omitempty"` // how a remote catalog was brought
	Refused      []Refusal         `json:"refused,omitempty"`
	Stale        []Stale           `json:"stale,omitempty"` // what the snapshot has in an older form
	Empty        []string          `json:"empty,omitempty"` // roles without a row, although none may be
	Fell         []Fall            `json:"fell,omitempty"`  // tables that lost rows
	MissingRoles []string          `json:"missing_roles,omitempty"`
	Notes        []string          `json:"notes,omitempty"`
	Resources    []*ResourceReport `json:"resources"`
	Tables       []TableReport     `json:"tables"`
	Rows         RowCounts         `json:"rows"`
	Seconds      float64           `json:"seconds"`
}

// Refusal is a file or a table that was not used, and why.
type Refusal struct {
	Role string `json:"role"`
	Path string `json:"path"`
	Why  string `json:"why"`
}

// RowCounts counts what happened to rows. Kept counts rows before duplicates are dropped.
type RowCounts struct {
	Read    int `json:"read"`
	InError int `json:"in_error"` // marked by upstream
	Dropped int `json:"dropped"`  // by our checks
	Skipped int `json:"skipped"`  // by rule: units without parent
	Kept    int `json:"kept"`
}

// ResourceReport is what a load did with one file.
type ResourceReport struct {
	Role    string    `json:"role"`
	Path    string    `json:"path"`
	Bytes   int64     `json:"bytes"`
	SHA256  string    `json:"sha256"`
	Rows    RowCounts `json:"rows"`
	Seconds float64   `json:"seconds"`
	Reused  bool      `json:"reused,omitempty"` // its bytes have not changed: these are the counts of an earlier load

	// Drops counts rows by the reason for which they were dropped or skipped.
	Drops map[string]*Examples `json:"drops,omitempty"`

	// UnknownCodes are administrative codes that no list has; their rows are kept and placed at the
	// country.
	UnknownCodes *Examples `json:"unknown_codes,omitempty"`

	// Oddities are only counted: the row is kept as it is.
	Oddities map[string]*Examples `json:"oddities,omitempty"`

	// Faults are what is wrong with the file although it was used: they make a load partial.
	Faults []string `json:"faults,omitempty"`

	ExtraColumns []string `json:"extra_columns,omitempty"` // that nothing reads
	Notes        []string `json:"notes,omitempty"`

	codes map[string]bool
}

// Examples counts something and keeps its first occurrences, as file:line and the value.
type Examples struct {
	Count    int      `json:"count"`
	Distinct int      `json:"distinct,omitempty"`
	First    []string `json:"first"`
}

// TableReport is one table of the snapshot.
type TableReport struct {
	Table  string `json:"table"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Reused bool   `json:"reused,omitempty"` // taken over from the current snapshot

	Duplicates duplicateRows `json:"duplicates"` // rows that a later one with the same key replaced

	// FormulaTexts are the columns with texts that begin with =, +, -, @, a tab or a CR. Such rows
	// are kept as they are.
	FormulaTexts []formulaTexts `json:"formula_texts,omitempty"`
}

func (e *Examples) add(example string) {
	e.Count++
	if len(e.First) < maxExamples {
		e.First = append(e.First, clip(example, 300))
	}
}

// drop counts a row that is not used.
func (r *ResourceReport) drop(f *rowFault) {
	r.Rows.Dropped++
	r.example(f)
}

// skip counts a row that is left out by rule, which is no defect.
func (r *ResourceReport) skip(f *rowFault) {
	r.Rows.Skipped++
	r.example(f)
}

func (r *ResourceReport) example(f *rowFault) {
	count(&r.Drops, string(f.reason), fmt.Sprintf("%s:%d: %s", f.file, f.line, f.detail))
}

// odd counts a row that is kept.
func (r *ResourceReport) odd(f *rowFault) {
	count(&r.Oddities, string(f.reason), fmt.Sprintf("%s:%d: %s", f.file, f.line, f.detail))
}

// unknownCode counts a row whose administrative code no list has.
func (r *ResourceReport) unknownCode(line int, code string) {
	if r.UnknownCodes == nil {
		r.UnknownCodes = &Examples{}
		r.codes = map[string]bool{}
	}
	r.UnknownCodes.Count++
	if !r.codes[code] {
		r.codes[code] = true
		r.UnknownCodes.Distinct++
		if len(r.UnknownCodes.First) < maxExamples {
			r.UnknownCodes.First = append(r.UnknownCodes.First, fmt.Sprintf("%s:%d: %s", r.Path, line, clip(code, 100)))
		}
	}
}

func (r *ResourceReport) note(text string) { r.Notes = append(r.Notes, text) }

func count(m *map[string]*Examples, reason, example string) {
	if *m == nil {
		*m = map[string]*Examples{}
	}
	e := (*m)[reason]
	if e == nil {
		e = &Examples{}
		(*m)[reason] = e
	}
	e.add(example)
}

// add adds counts.
func (c *RowCounts) add(d RowCounts) {
	c.Read += d.Read
	c.InError += d.InError
	c.Dropped += d.Dropped
	c.Skipped += d.Skipped
	c.Kept += d.Kept
}

// refuse reports a file or table that is not used.
func (r *Report) refuse(role, path string, err error) {
	r.Refused = append(r.Refused, Refusal{Role: role, Path: path, Why: err.Error()})
}

// reasons are the keys of a count, most frequent first.
func reasons(m map[string]*Examples) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if d := m[b].Count - m[a].Count; d != 0 {
			return d
		}
		if a < b {
			return -1
		}
		return 1
	})
}

// clone copies the report as far as a load appends to it.
func (r *Report) clone() *Report {
	c := *r
	c.Refused, c.Stale, c.Notes = slices.Clone(r.Refused), slices.Clone(r.Stale), slices.Clone(r.Notes)
	c.MissingRoles = slices.Clone(r.MissingRoles)
	c.Resources, c.Tables = slices.Clone(r.Resources), slices.Clone(r.Tables)
	return &c
}

// finish sorts the report, whose parts were added as tables became ready, and sums it up.
func (r *Report) finish() {
	slices.SortStableFunc(r.Resources, func(a, b *ResourceReport) int { return strings.Compare(a.Path, b.Path) })
	slices.SortStableFunc(r.Refused, func(a, b Refusal) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(r.MissingRoles)
	position := map[string]int{}
	for i, t := range tables {
		position[t.name] = i
	}
	slices.SortStableFunc(r.Tables, func(a, b TableReport) int { return position[a.Table] - position[b.Table] })
	for _, f := range r.Resources {
		r.Rows.add(f.Rows)
	}
	r.setPartial()
}

func (r *Report) setPartial() {
	faults := len(r.Refused) + len(r.Stale) + len(r.Empty)
	for _, f := range r.Resources {
		faults += len(f.Faults)
	}
	for _, f := range r.Fell {
		if f.matters() {
			faults++
		}
	}
	r.Partial = r.Rows.Dropped > 0 || faults > 0 || !r.Fetched.complete()
}
