package loader

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// The reasons of rows. Those of single values are in builder.go.
const (
	raggedRow       reason = "ragged_row"
	rowTooLong      reason = "row_too_long"
	blankError      reason = "blank_error"
	invalidUTF8     reason = "invalid_utf8"
	misplacedQuote  reason = "misplaced_quote"
	unknownLocation reason = "unknown_location"
	unknownParent   reason = "unknown_parent"
	unknownLevel    reason = "unknown_level"
	unknownResource reason = "unknown_resource"
	unknownListed   reason = "not_in_list" // an organisation, sector, market or commodity that its list does not have
	noCode          reason = "no_code"
	codeTwice       reason = "code_twice"
	otherCountry    reason = "code_of_another_country"
	tooEarly        reason = "period_before_1900"
	tooLate         reason = "period_too_far_ahead"
	ageIsDate       reason = "age_is_a_date"
	agesReversed    reason = "ages_out_of_order"

	// Of rows that are kept.
	noErrorWord  reason = "error_says_none"      // the column error has a word such as nan or false
	aboveLevel   reason = "placed_above_level"   // at a level above that of its codes, names or admin_level
	otherParent  reason = "admin1_is_not_parent" // of the unit of level 2
	unknownCode  reason = "unknown_code"
	duplicateRow reason = "different_duplicate" // kept only in dumps
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
	// fault, that our own checks dropped rows, that duplicate rows differ, or that rows are gone or
	// missing (Fell, Empty).
	// Rows that upstream marked in error, skipped units and unknown resources do not count.
	Partial bool `json:"partial"`

	Fetched      *FetchReport      `json:"fetched,omitempty"` // how a remote catalog was brought
	Refused      []Refusal         `json:"refused,omitempty"`
	Stale        []Stale           `json:"stale,omitempty"`   // what the snapshot has in an older form
	Summary      string            `json:"summary,omitempty"` // of misplaced rows, which no load has counted before
	Empty        []string          `json:"empty,omitempty"`   // roles without a row, although none may be
	Fell         []Fall            `json:"fell,omitempty"`    // tables that lost rows
	MissingRoles []string          `json:"missing_roles,omitempty"`
	Notes        []string          `json:"notes,omitempty"`
	Resources    []*ResourceReport `json:"resources"`
	Tables       []TableReport     `json:"tables"`
	Files        FileCounts        `json:"files"`
	Rows         RowCounts         `json:"rows"`
	Seconds      float64           `json:"seconds"`
}

// FileCounts counts the files that a catalog has for the roles that are read, without packages.
type FileCounts struct {
	Listed  int `json:"listed"`
	Read    int `json:"read"`
	Refused int `json:"refused"`
	Unread  int `json:"unread"` // not listed: they may have rows, and no role takes them
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

	// Misplaced counts the rows of each country that are kept above the unit that they name. It is
	// nil in reports of roles without units, and in those of versions that did not count them.
	Misplaced map[string]MisplacedRows `json:"misplaced,omitzero"`

	// Oddities are only counted: the row is kept as it is.
	Oddities map[string]*Examples `json:"oddities,omitempty"`

	// Faults are what is wrong with the file although it was used: they make a load partial.
	Faults []string `json:"faults,omitempty"`

	ExtraColumns []string `json:"extra_columns,omitempty"` // that nothing reads
	Notes        []string `json:"notes,omitempty"`

	codes map[string]bool
}

// MisplacedRows counts rows with a code that no list has, and rows that are placed at a level above
// that of their codes, names or admin_level. A row may be both.
type MisplacedRows struct {
	UnknownCodes int `json:"unknown_codes"`
	AboveLevel   int `json:"above_level"`
}

// Examples counts something and keeps its first occurrences, as file:line and the value.
type Examples struct {
	Count    int      `json:"count"`
	Distinct int      `json:"distinct,omitempty"`
	First    []string `json:"first"`
	ByRule   bool     `json:"by_rule,omitempty"` // the rows are no fault
}

// TableReport is one table of the snapshot.
type TableReport struct {
	Table  string `json:"table"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Reused bool   `json:"reused,omitempty"` // taken over from the current snapshot

	Duplicates duplicateRows `json:"duplicates"` // rows that another one with the same key replaced

	// FormulaTexts are the columns with texts that begin with =, +, -, @, a tab or a CR. Such rows
	// are kept as they are.
	FormulaTexts []formulaTexts `json:"formula_texts,omitempty"`
}

func (r *ResourceReport) drop(f *rowFault) {
	r.Rows.Dropped++
	count(&r.Drops, f)
}

// skip counts a row that is left out by rule, which is no defect.
func (r *ResourceReport) skip(f *rowFault) {
	r.Rows.Skipped++
	f.byRule = true
	count(&r.Drops, f)
}

// odd counts a row that is kept.
func (r *ResourceReport) odd(f *rowFault) { count(&r.Oddities, f) }

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

func count(m *map[string]*Examples, f *rowFault) {
	if *m == nil {
		*m = map[string]*Examples{}
	}
	e := (*m)[string(f.reason)]
	if e == nil {
		e = &Examples{ByRule: f.byRule}
		(*m)[string(f.reason)] = e
	}
	e.Count++
	if len(e.First) < maxExamples {
		e.First = append(e.First, clip(fmt.Sprintf("%s:%d: %s", f.file, f.line, f.detail), 300))
	}
}

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
		return cmp.Or(m[b].Count-m[a].Count, strings.Compare(a, b))
	})
}

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
	for i := range r.Tables {
		faults += r.Tables[i].Duplicates.Different
	}
	r.Partial = r.Rows.Dropped > 0 || faults > 0 || !r.Fetched.complete()
}

// FetchReport is how a catalog was fetched from where it is published before it was loaded. Field
// names are stable.
type FetchReport struct {
	Source   string         `json:"source"`
	Kind     string         `json:"kind"` // ckan, mirror or s3
	Sources  []SourceReport `json:"sources,omitempty"`
	Linked   int            `json:"linked"` // files of the tree that is loaded
	Requests int64          `json:"requests"`
	Retries  int64          `json:"retries"`
	Bytes    int64          `json:"bytes"` // received, those of failed attempts included
	Seconds  float64        `json:"seconds"`
	Notes    []string       `json:"notes,omitempty"`
}

// The states of a source.
const (
	SourceNew       = "new"       // downloaded: not seen before, or changed
	SourceUnchanged = "unchanged" // the cached copy is what the catalog has
	SourceStale     = "stale"     // could not be used as it is now; the last good copy is used
	SourceRefused   = "refused"   // could not be used, and there is no copy
)

// SourceReport is what happened to one file of the catalog.
type SourceReport struct {
	Role         string  `json:"role"`
	Path         string  `json:"path"`
	State        string  `json:"state"`
	Why          string  `json:"why,omitempty"`
	Blocked      bool    `json:"blocked,omitempty"`   // the site refuses this program: why says what helps
	NotAsked     bool    `json:"not_asked,omitempty"` // no request was sent, since another one had failed
	LastModified string  `json:"last_modified,omitempty"`
	Bytes        int64   `json:"bytes"` // of the file
	Seconds      float64 `json:"seconds"`
}

// Count is how many sources are in a state.
func (f *FetchReport) Count(state string) int {
	n := 0
	for _, s := range f.Sources {
		if s.State == state {
			n++
		}
	}
	return n
}

// ByHelp orders sources that failed: first those that say what helps, last those that say of
// another one that it failed.
func ByHelp(a, b SourceReport) int {
	place := func(s SourceReport) int {
		switch {
		case s.NotAsked:
			return 2
		case s.Blocked:
			return 0
		}
		return 1
	}
	return cmp.Compare(place(a), place(b))
}

// Trouble is why the catalog could not be read whole, in one text: of a file, or of the listing if
// no file was asked for. It is empty if nothing is said.
func (f *FetchReport) Trouble() string {
	var failed []SourceReport
	for _, s := range f.Sources {
		if s.State == SourceStale || s.State == SourceRefused {
			failed = append(failed, s)
		}
	}
	slices.SortStableFunc(failed, ByHelp)
	if len(failed) > 0 && (!failed[0].NotAsked || len(f.Notes) == 0) {
		return failed[0].Why
	}
	return strings.Join(f.Notes, "; ")
}

// complete reports whether every source was read or has not changed. A catalog that was not fetched
// is complete.
func (f *FetchReport) complete() bool {
	return f == nil || f.Count(SourceStale)+f.Count(SourceRefused) == 0
}

// refusedOf finds a source of a role that could not be fetched and has no copy.
func (f *FetchReport) refusedOf(role string) (SourceReport, bool) {
	if f == nil {
		return SourceReport{}, false
	}
	i := slices.IndexFunc(f.Sources, func(s SourceReport) bool { return s.Role == role && s.State == SourceRefused })
	if i < 0 {
		return SourceReport{}, false
	}
	return f.Sources[i], true
}

func (f *FetchReport) summary() string {
	return fmt.Sprintf(
		"%s (%s): %d sources: %d new, %d unchanged, %d stale, %d refused; "+
			"%d requests, %d retries, %d bytes in %.1f s",
		f.Source, f.Kind, len(f.Sources), f.Count(SourceNew), f.Count(SourceUnchanged),
		f.Count(SourceStale), f.Count(SourceRefused),
		f.Requests, f.Retries, f.Bytes, f.Seconds)
}

func (f *FetchReport) writeText(w io.Writer) error {
	fmt.Fprintf(w, "catalog %s\n", f.summary())
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "source\tstate\tbytes\tseconds\tlast modified\twhy")
	for _, s := range f.Sources {
		if s.Role == "package" && s.State != SourceRefused {
			continue // there are hundreds; stale ones are named below
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%.2f\t%s\t%s\n", s.Path, s.State, s.Bytes, s.Seconds, s.LastModified, s.Why)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, n := range f.Notes {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// Incomplete lists the tables that made the load partial, each with what it lacks, such as
// "funding (refused)". Files that belong to no table are listed by path.
func (r *Report) Incomplete() []string {
	lacks := map[string][]string{}
	note := func(role, path, what string) {
		tables := tablesOf(role, path)
		if tables == nil {
			tables = []string{cmp.Or(path, role)}
		}
		for _, table := range tables {
			if !slices.Contains(lacks[table], what) {
				lacks[table] = append(lacks[table], what)
			}
		}
	}
	dropped := map[string]int{} // by role
	for _, f := range r.Resources {
		dropped[f.Role] += f.Rows.Dropped
		if len(f.Faults) > 0 {
			note(f.Role, f.Path, "fault in a file")
		}
	}
	for _, s := range r.Refused {
		note(s.Role, s.Path, "refused")
	}
	for _, s := range r.Stale {
		note(s.Role, s.Path, "stale")
	}
	if r.Fetched != nil {
		for _, s := range r.Fetched.Sources {
			if s.State == SourceStale || s.State == SourceRefused {
				note(s.Role, s.Path, s.State)
			}
		}
	}
	for _, role := range r.Empty {
		note(role, role, "no rows")
	}
	for _, f := range r.Fell {
		if f.matters() {
			note("", f.Table, "fewer rows")
		}
	}
	for _, t := range r.Tables {
		if n := t.Duplicates.Different; n > 0 {
			note("", t.Table, countOf(n, "duplicate row")+" with other values")
		}
	}
	for _, role := range slices.Sorted(maps.Keys(dropped)) {
		if n := dropped[role]; n > 0 {
			note(role, role, countOf(n, "row")+" dropped")
		}
	}
	var all []string
	for table, what := range lacks {
		all = append(all, fmt.Sprintf("%s (%s)", table, strings.Join(what, ", ")))
	}
	slices.Sort(all)
	return all
}

// countOf returns a number with its noun.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
