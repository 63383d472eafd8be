package loader

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

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
	// fault, that our own checks dropped rows, that duplicate rows differ, that rows are gone or
	// missing (Fell, Empty), or that figures have changed more than usual (Changed).
	// Rows that upstream marked in error, skipped units and unknown resources do not count.
	Partial bool `json:"partial"`

	Fetched      *FetchReport      `json:"fetched,omitempty"` // how a remote catalog was brought
	Refused      []Refusal         `json:"refused,omitempty"`
	Stale        []Stale           `json:"stale,omitempty"`   // what the snapshot has in an older form
	Summary      string            `json:"summary,omitempty"` // of misplaced rows, which no load has counted before
	Odd          []string          `json:"odd,omitempty"`     // about tables that are used as they are
	Empty        []string          `json:"empty,omitempty"`   // roles without a row, although none may be
	Fell         []Fall            `json:"fell,omitempty"`    // tables that lost rows
	Changed      []string          `json:"changed,omitempty"` // headline figures that changed more than usual
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

func (c *RowCounts) add(d RowCounts) {
	c.Read += d.Read
	c.InError += d.InError
	c.Dropped += d.Dropped
	c.Skipped += d.Skipped
	c.Kept += d.Kept
}

// ResourceReport is what a load did with one file.
type ResourceReport struct {
	Role    string  `json:"role"`
	Path    string  `json:"path"`
	Bytes   int64   `json:"bytes"`
	SHA256  string  `json:"sha256"`
	Seconds float64 `json:"seconds"`
	fileCounts

	// Drops counts rows by the reason for which they were dropped or skipped.
	Drops map[string]*Examples `json:"drops,omitempty"`

	// Oddities are only counted: the row is kept as it is.
	Oddities map[string]*Examples `json:"oddities,omitempty"`

	// Faults are what is wrong with the file although it was used: they make a load partial.
	Faults []string `json:"faults,omitempty"`

	ExtraColumns []string `json:"extra_columns,omitempty"` // that nothing reads
	Notes        []string `json:"notes,omitempty"`

	id  string // as catalog.json has it
	own bool   // the catalog's, not an embedded list
}

// fileCounts are what the next load compares its own with.
type fileCounts struct {
	Rows RowCounts `json:"rows"`

	// Misplaced counts the rows of each country that are kept above the unit that they name. It is
	// nil in reports of roles without units, and in those of versions that did not count them.
	Misplaced map[string]MisplacedRows `json:"misplaced,omitzero"`
}

// MisplacedRows counts rows with a code that no list has, and rows that are placed at a level above
// that of their codes, names or admin_level. A row may be both.
type MisplacedRows struct {
	UnknownCodes int `json:"unknown_codes"`
	AboveLevel   int `json:"above_level"`
}

// String describes the counts for people.
func (m MisplacedRows) String() string {
	return fmt.Sprintf("%d rows with unknown codes and %d above their level", m.UnknownCodes, m.AboveLevel)
}

// grewFrom reports whether one of the counts grew by a tenth and ten rows at least.
func (m MisplacedRows) grewFrom(old MisplacedRows) bool {
	grew := func(now, before int) bool { return now-before >= 10 && 10*(now-before) >= before }
	return grew(m.UnknownCodes, old.UnknownCodes) || grew(m.AboveLevel, old.AboveLevel)
}

// Examples counts something and keeps its first values, each once, as file:line and the value.
type Examples struct {
	Count  int      `json:"count"`
	First  []string `json:"first"`
	ByRule bool     `json:"by_rule,omitempty"` // the rows are no fault

	values []string // of First
}

// TableReport is one table of the snapshot.
type TableReport struct {
	Table  string `json:"table"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	Reused bool   `json:"reused,omitempty"` // taken over from the current snapshot

	tableCounts
}

// tableCounts counts rows of a table that are noteworthy.
type tableCounts struct {
	Duplicates duplicateRows `json:"duplicates"` // rows that another one with the same key replaced

	// OddTexts are the columns with texts that isOddText marks. Such rows are kept as they are.
	OddTexts []oddTexts `json:"odd_texts,omitempty"`
}

// duplicateRows counts the rows that were replaced by another one with the same key.
type duplicateRows struct {
	Identical int      `json:"identical"`      // equal in every column
	Same      string   `json:"same,omitempty"` // where the first of these are, if they are in two files
	Different int      `json:"different"`
	Examples  []string `json:"examples,omitempty"` // of the first different ones: where they are, and their key
}

// oddTexts counts the rows of one column with such a text.
type oddTexts struct {
	Column string `json:"column"`
	Rows   int    `json:"rows"`
	First  string `json:"first"` // the first such text
}

// Stale is a source whose present form could not be used. The snapshot has its last good form.
type Stale struct {
	Role  string    `json:"role"`
	Path  string    `json:"path"` // the file, or the table that was kept whole
	Why   string    `json:"why"`
	Since time.Time `json:"since"` // time of the first load that could not use it
}

// Fall is a table that has fewer rows than before, or fewer values in a column, or none of a
// country that it had.
type Fall struct {
	Table     string   `json:"table"`
	Column    string   `json:"column,omitempty"` // of which the values are counted, not the rows
	Before    int      `json:"rows_before"`
	Rows      int      `json:"rows"`
	Countries []string `json:"countries,omitempty"` // that have no row any more, or less than a third
	Allowed   bool     `json:"allowed,omitempty"`   // by --allow-shrink
}

// String describes the fall for people.
func (f Fall) String() string {
	what := "rows"
	if f.Column != "" {
		what = "values of " + f.Column
	}
	s := fmt.Sprintf("%s: %d %s, %d before", f.Table, f.Rows, what, f.Before)
	if len(f.Countries) > 0 {
		s += "; none, or less than a third, any more of " + someOf(f.Countries, mostNames)
	}
	if f.Allowed {
		s += " (allowed)"
	}
	return s
}

// matters reports whether a fall makes the load partial: tables are corrected each day, so less
// than a row in a hundred may go.
func (f Fall) matters() bool {
	return !f.Allowed && (100*f.Rows < 99*f.Before || len(f.Countries) > 0)
}

// refuse reports a file or table that is not used.
func (r *Report) refuse(role, path string, err error) {
	r.Refused = append(r.Refused, Refusal{Role: role, Path: path, Why: err.Error()})
}

// odd reports something about a table that is used as it is.
func (r *Report) odd(format string, args ...any) { r.Odd = append(r.Odd, fmt.Sprintf(format, args...)) }

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

func (r *ResourceReport) note(text string) { r.Notes = append(r.Notes, text) }

// maxExamples is how many examples of each reason a report keeps.
const maxExamples = 5

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
	if len(e.First) < maxExamples && !slices.Contains(e.values, f.detail) {
		e.values = append(e.values, f.detail)
		e.First = append(e.First, clip(fmt.Sprintf("%s:%d: %s", f.file, f.line, f.detail), 300))
	}
}

// reasons are the keys of a count, most frequent first.
func reasons(m map[string]*Examples) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(m[b].Count-m[a].Count, strings.Compare(a, b))
	})
}

// reason is why a value or a row is faulty; "" means that it is not. The texts are keys of the load
// report.
type reason string

// wanted is what cells must have that are at fault for a reason.
var wanted = map[reason]string{
	badNumber:       "digits without marks between them and a point before decimals, such as 1234.5",
	badFlag:         "Y or N, True or False, t or f",
	badDate:         "a day as YYYY-MM-DD",
	missing:         "a value",
	emptyAsWord:     "an empty cell where there is no value",
	unknownLocation: "a code that the list of countries has",
}

// unreadable reports whether there is no value to keep. After any other reason the value has been
// set, and the caller decides.
func (r reason) unreadable() bool {
	return r == badNumber || r == badFlag || r == badDate || r == unknownEnum
}

// The reasons of values, then those of rows.
const (
	badNumber   reason = "bad_number"
	badFlag     reason = "bad_flag"
	badDate     reason = "bad_date"
	unknownEnum reason = "unknown_enum"
	missing     reason = "missing_value"
	emptyAsWord reason = "empty_as_word" // a word that programs write for an empty cell
	tooLong     reason = "text_too_long"
	outOfBounds reason = "out_of_bounds"
	endFirst    reason = "end_before_start"

	raggedRow       reason = "ragged_row"
	emptyRow        reason = "empty_row"
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
	otherName       reason = "name_of_another_code"
	totalAsUnit     reason = "total_as_unit"
	tooEarly        reason = "period_before_1900"
	tooLate         reason = "period_too_far_ahead"
	ageIsDate       reason = "age_is_a_date"
	periodTooLong   reason = "period_too_long"
	agesReversed    reason = "ages_out_of_order"
	agesDiffer      reason = "ages_contradict_range"
	totalNotAll     reason = "total_is_not_all"

	// Of rows that are kept.
	mpiMismatch   reason = "mpi_is_not_headcount_times_intensity"
	severeAbove   reason = "in_severe_poverty_is_above_headcount"
	shareMismatch reason = "funding_pct_is_not_the_share"
	riskMismatch  reason = "overall_risk_is_not_the_mean_of_three"
	noErrorWord   reason = "error_says_none"      // the column error has a word such as nan or false
	aboveLevel    reason = "placed_above_level"   // at a level above that of its codes, names or admin_level
	belowLevel    reason = "placed_below_level"   // at a level below its admin_level
	noText        reason = "no_text"              // a name or title is empty
	blankAround   reason = "blanks_around_code"   // of a country or a parent
	otherParent   reason = "admin1_is_not_parent" // of the unit of level 2
	otherDataset  reason = "resource_of_another_dataset"
	nameTwice     reason = "name_of_another_dataset"
	notAsListed   reason = "not_as_in_list"        // a name, a category, a position
	otherList     reason = "group_of_another_list" // refugees among returnees, or the other way round
	unknownCode   reason = "unknown_code"
	duplicateRow  reason = "different_duplicate" // kept only in dumps
)

// rowFault is a row that cannot be used; the rows around it can.
type rowFault struct {
	file   string
	line   int
	reason reason
	detail string
	byRule bool // left out by rule rather than for a defect
}

func (f *rowFault) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.file, f.line, f.reason, f.detail)
}

// countOf returns a number with its noun.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

const mostNames = 20 // in a message

// someOf lists the first of many names.
func someOf(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func quoted(cell []byte) string { return strconv.Quote(clip(string(cell), 120)) }

// clip shortens a text for a message, at the boundary of a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func (r *Report) clone() *Report {
	c := *r
	c.Refused, c.Stale, c.Notes = slices.Clone(r.Refused), slices.Clone(r.Stale), slices.Clone(r.Notes)
	c.MissingRoles = slices.Clone(r.MissingRoles)
	c.Resources, c.Tables = slices.Clone(r.Resources), slices.Clone(r.Tables)
	return &c
}
