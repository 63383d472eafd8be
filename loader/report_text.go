package loader

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
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
	fmt.Fprintf(t, "file\tread\tin error\tdropped\tskipped\tkept\tbytes\tseconds\t\n")
	for _, f := range r.Resources {
		c := f.Rows
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.2f\t\n",
			f.Path, c.Read, c.InError, c.Dropped, c.Skipped, c.Kept, f.Bytes, f.Seconds)
	}
	fmt.Fprintf(t, "all\t%d\t%d\t%d\t%d\t%d\t\t%.2f\t\n\n", r.Rows.Read, r.Rows.InError, r.Rows.Dropped,
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
}

func writeExamples(b *strings.Builder, what string, e *Examples) {
	fmt.Fprintf(b, "%d × %s, first:\n", e.Count, what)
	for _, s := range e.First {
		fmt.Fprintf(b, "    %s\n", s)
	}
}

// mostLosses bounds the summary: a job page is read, not searched.
const mostLosses = 30

// WriteMarkdown writes a short summary for the page of a job: the outcome, what was lost, and which
// tables were made anew. It is one block of text, so that nothing in it is markup.
func (r *Report) WriteMarkdown(w io.Writer) error {
	state := "complete"
	if r.Partial {
		state = "**partial**"
	}
	lines := []string{fmt.Sprintf("snapshot %s of %s from %s: %d rows read, %d kept, %d dropped by our checks; %.1f s",
		r.Snapshot, r.SnapshotTime.Format("2006-01-02 15:04 MST"), r.Catalog,
		r.Rows.Read, r.Rows.Kept, r.Rows.Dropped, r.Seconds)}
	if r.Fetched != nil {
		lines = append(lines, "catalog "+r.Fetched.summary())
	}
	losses := r.Losses()
	lines = append(lines, losses[:min(len(losses), mostLosses)]...)
	if more := len(losses) - mostLosses; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more, see the report", more))
	}
	var anew []string
	for _, t := range r.Tables {
		if !t.Reused {
			anew = append(anew, t.Table)
		}
	}
	if anew != nil {
		lines = append(lines, "tables made anew: "+strings.Join(anew, ", "))
	}
	text := strings.ReplaceAll(strings.Join(lines, "\n"), "```", "'''")
	_, err := fmt.Fprintf(w, "### hdqs load: %s, %s\n\n```text\n%s\n```\n\n", r.Outcome, state, text)
	return err
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
	r.Partial = len(r.Incomplete()) > 0
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
	if len(r.Changed) > 0 {
		note("", "headline figures", countOf(len(r.Changed), "large change"))
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
