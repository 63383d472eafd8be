package loader

import (
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
	for _, f := range r.Refused {
		if strings.Contains(f.Why, f.Path) {
			fmt.Fprintf(&b, "refused: %s\n", f.Why)
		} else {
			fmt.Fprintf(&b, "refused: %s: %s\n", f.Path, f.Why)
		}
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
		r.Tables[i].writeFormulas(&b)
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
	for _, f := range r.Faults {
		fmt.Fprintf(b, "fault: %s: %s\n", r.Path, f)
	}
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
