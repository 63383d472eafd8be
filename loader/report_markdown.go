package loader

import (
	"fmt"
	"io"
	"strings"
)

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
	for _, s := range r.Stale {
		lines = append(lines,
			fmt.Sprintf("| %s | stale since %s | %s |", markdownText(s.Path), s.Since.Format("2006-01-02 15:04"),
				markdownText(s.Why)))
	}
	for _, role := range r.Empty {
		lines = append(lines, fmt.Sprintf("| %s | no rows | |", role))
	}
	for _, f := range r.Fell {
		lines = append(lines, fmt.Sprintf("| %s | fewer rows | %s |", f.Table, markdownText(f.String())))
	}
	for _, s := range r.Refused {
		lines = append(lines, fmt.Sprintf("| %s | refused | %s |", markdownText(s.Path), markdownText(s.Why)))
	}
	if r.Fetched != nil {
		for _, s := range r.Fetched.Sources {
			if s.State == SourceRefused {
				lines = append(lines,
					fmt.Sprintf("| %s | not fetched | %s |", markdownText(s.Path), markdownText(s.Why)))
			}
		}
	}
	markdownTable(&b, "| not used as it is now | state | why |\n|---|---|---|\n", lines)
	lines = nil
	for _, f := range r.Resources {
		for _, why := range reasons(f.Drops) {
			lines = append(lines,
				fmt.Sprintf("| %s | %s | %d | %s |", markdownText(f.Path), why, f.Drops[why].Count,
					markdownText(f.Drops[why].First[0])))
		}
	}
	markdownTable(&b, "| rows not used in | reason | rows | first |\n|---|---|--:|---|\n", lines)
	lines = nil
	for _, t := range r.Tables {
		if !t.Reused {
			lines = append(lines, fmt.Sprintf("| %s | %d | %d | `%s` |", t.Table, t.Rows, t.Bytes, clip(t.SHA256, 12)))
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
