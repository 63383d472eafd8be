package loader

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"hdqs/snapshot"
)

// WriteText writes the report as tables for a terminal: files, what was dropped and why, tables,
// and what else there is to know.
func (r *Report) WriteText(w io.Writer) error {
	if r.Fetched != nil {
		if err := r.Fetched.writeText(w); err != nil {
			return err
		}
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "file\tread\tin error\tdropped\tskipped\tkept\tunknown codes\tbytes\tseconds\t\n")
	for _, f := range r.Resources {
		c, unknown := f.Rows, 0
		if f.UnknownCodes != nil {
			unknown = f.UnknownCodes.Count
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t\n",
			f.Path, c.Read, c.InError, c.Dropped, c.Skipped, c.Kept, unknown, f.Bytes, f.Seconds)
	}
	fmt.Fprintf(t, "all\t%d\t%d\t%d\t%d\t%d\t\t\t%.2f\t\n\n", r.Rows.Read, r.Rows.InError, r.Rows.Dropped,
		r.Rows.Skipped, r.Rows.Kept, r.Seconds)
	fmt.Fprintf(t, "table\trows\tduplicates\tof these identical\tbytes\tsegment\t\n")
	for _, s := range r.Tables {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%s\t\n",
			s.Table, s.Rows, s.Duplicates.Identical+s.Duplicates.Different, s.Duplicates.Identical,
			s.Bytes, clip(s.SHA256, 12))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	if c := r.Files; c.Refused+c.Unread > 0 {
		fmt.Fprintf(&b, "files: %d listed, %d read, %d refused; %d more that no role takes\n",
			c.Listed, c.Read, c.Refused, c.Unread)
	}
	for _, line := range r.Losses() {
		fmt.Fprintln(&b, line)
	}
	if len(r.MissingRoles) > 0 {
		fmt.Fprintf(&b, "no file for: %s\n", strings.Join(r.MissingRoles, ", "))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	r.writeExtraColumns(&b)
	for _, f := range r.Resources {
		f.writeDetails(&b)
	}
	for i := range r.Tables {
		for _, f := range r.Tables[i].FormulaTexts {
			fmt.Fprintf(&b, "%d × text like a formula of a spreadsheet, table %s, column %s, first: %q\n",
				f.Rows, r.Tables[i].Table, f.Column, f.First)
		}
	}
	fmt.Fprintf(&b, "snapshot %s of %s: %s\n", r.Snapshot, r.SnapshotTime.Format("2006-01-02T15:04:05Z"), r.Outcome)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeExtraColumns names the first of the columns that nothing reads, in one line for each role.
// The JSON form of the report has all of them.
func (r *Report) writeExtraColumns(b *strings.Builder) {
	byRole := map[string][]string{}
	for _, f := range r.Resources {
		for _, name := range f.ExtraColumns {
			if name = strconv.Quote(clip(name, 100)); !slices.Contains(byRole[f.Role], name) {
				byRole[f.Role] = append(byRole[f.Role], name)
			}
		}
	}
	for _, role := range slices.Sorted(maps.Keys(byRole)) {
		fmt.Fprintf(b, "columns not read: %s: %d: %s\n", role, len(byRole[role]), someOf(byRole[role], 5))
	}
}

// writeDetails writes what there is to say of one file beyond its counts.
func (r *ResourceReport) writeDetails(b *strings.Builder) {
	for _, n := range r.Notes {
		fmt.Fprintf(b, "note: %s: %s\n", r.Path, n)
	}
	for _, why := range reasons(r.Drops) {
		writeExamples(b, "not used, "+why, r.Drops[why])
	}
	for _, why := range reasons(r.Oddities) {
		writeExamples(b, "kept, "+why, r.Oddities[why])
	}
	if r.UnknownCodes != nil {
		writeExamples(b, fmt.Sprintf("kept at its country, %d unknown codes", r.UnknownCodes.Distinct), r.UnknownCodes)
	}
}

func writeExamples(b *strings.Builder, what string, e *Examples) {
	fmt.Fprintf(b, "%d × %s, first:\n", e.Count, what)
	for _, s := range e.First {
		fmt.Fprintf(b, "    %s\n", s)
	}
}

// maxMarkdownLines bounds each list of the summary: a job page is read, not searched.
const maxMarkdownLines = 30

// WriteMarkdown writes a short summary for the page of a job: the outcome, what could not be used,
// which tables changed.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	state := "complete"
	if r.Partial {
		state = "**partial**"
	}
	fmt.Fprintf(&b, "### hdqs load: %s, %s\n\n", r.Outcome, state)
	fmt.Fprintf(&b, "Snapshot `%s` of %s from %s; %d rows read, %d kept, %d dropped by our checks; %.1f s.\n\n",
		r.Snapshot, r.SnapshotTime.Format("2006-01-02 15:04 MST"), markdownText(r.Catalog),
		r.Rows.Read, r.Rows.Kept, r.Rows.Dropped, r.Seconds)
	if f := r.Fetched; f != nil {
		fmt.Fprintf(&b, "Catalog %s.\n\n", markdownText(f.summary()))
	}
	var lines []string
	row := func(format string, cells ...any) { lines = append(lines, fmt.Sprintf("| "+format+" |", cells...)) }
	for _, s := range r.Stale {
		row("%s | stale since %s | %s", markdownText(s.Path), s.Since.Format("2006-01-02 15:04"), markdownText(s.Why))
	}
	for _, role := range r.Empty {
		row("%s | no rows | ", role)
	}
	for _, f := range r.Fell {
		row("%s | fewer rows | %s", f.Table, markdownText(f.String()))
	}
	for _, s := range r.Refused {
		row("%s | refused | %s", markdownText(s.Path), markdownText(s.Why))
	}
	if r.Fetched != nil {
		for _, s := range r.Fetched.Sources {
			if s.State == SourceRefused && s.Role != "" {
				row("%s | not fetched | %s", markdownText(s.Path), markdownText(s.Why))
			}
		}
	}
	markdownTable(&b, "| not used as it is now | state | why |\n|---|---|---|\n", lines)
	lines = nil
	for _, f := range r.Resources {
		for _, why := range reasons(f.Drops) {
			e := f.Drops[why]
			row("%s | %s | %d | %s", markdownText(f.Path), why, e.Count, markdownText(e.First[0]))
		}
	}
	markdownTable(&b, "| rows not used in | reason | rows | first |\n|---|---|--:|---|\n", lines)
	lines = nil
	for _, t := range r.Tables {
		if !t.Reused {
			row("%s | %d | %d | `%s`", t.Table, t.Rows, t.Bytes, clip(t.SHA256, 12))
		}
	}
	markdownTable(&b, "| table made anew | rows | bytes | segment |\n|---|--:|--:|---|\n", lines)
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString(head)
	for _, line := range lines[:min(len(lines), maxMarkdownLines)] {
		b.WriteString(line + "\n")
	}
	if more := len(lines) - maxMarkdownLines; more > 0 {
		fmt.Fprintf(b, "\nand %d more\n", more)
	}
	b.WriteString("\n")
}

// markdownText escapes text from files and answers, so that it cannot end a cell or begin a tag.
func markdownText(s string) string {
	s = strings.Join(strings.Fields(clip(s, 300)), " ")
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "'", "[", `\[`, "*", `\*`, "_", `\_`).Replace(s)
}

// formulaTexts counts the rows of one column whose text begins like a formula of a spreadsheet. The
// text is served as it is, in CSV too, where a spreadsheet that opens the file may run it.
type formulaTexts struct {
	Column string `json:"column"`
	Rows   int    `json:"rows"`
	First  string `json:"first"` // the first such text
}

// formulaStarts are the characters that a spreadsheet takes for the start of a formula, directly or
// after it has dropped them.
const formulaStarts = "=+-@\t\r"

// countFormulas lists the columns of a table that have such texts. Most dictionaries hold none, and
// only the rows of those that do are counted.
func countFormulas(data *snapshot.TableData) []formulaTexts {
	var found []formulaTexts
	for i := range data.Columns {
		found = appendFormulas(found, &data.Columns[i], nil)
	}
	for i := range data.Groups {
		g := &data.Groups[i]
		for j := range g.Columns {
			found = appendFormulas(found, &g.Columns[j], g.Codes)
		}
	}
	return found
}

// appendFormulas counts the rows of a column. tuples has the position in the column for each row,
// nil when the column has a value for each row.
func appendFormulas(found []formulaTexts, c *snapshot.ColumnData, tuples []uint32) []formulaTexts {
	if c.Kind != snapshot.Text {
		return found
	}
	marked := make(map[uint32]bool)
	f := formulaTexts{Column: c.Name}
	for code, text := range c.Values {
		if text != "" && strings.IndexByte(formulaStarts, text[0]) >= 0 {
			marked[uint32(code)] = true
			if f.First == "" {
				f.First = clip(text, 100)
			}
		}
	}
	if len(marked) == 0 {
		return found
	}
	if tuples == nil {
		for _, code := range c.Codes {
			if marked[code] {
				f.Rows++
			}
		}
	} else {
		for _, t := range tuples {
			if marked[c.Codes[t]] {
				f.Rows++
			}
		}
	}
	if f.Rows == 0 { // the texts of rows that were dropped stay in the dictionary
		return found
	}
	return append(found, f)
}
