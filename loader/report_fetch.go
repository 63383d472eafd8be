package loader

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// FetchReport is how a catalog was fetched from where it is published before it was loaded. Field
// names are stable.
type FetchReport struct {
	Source   string         `json:"source"`
	Kind     string         `json:"kind"` // ckan, mirror or s3
	Sources  []SourceReport `json:"sources"`
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

// summary is one line about all sources.
func (f *FetchReport) summary() string {
	return fmt.Sprintf(
		"%s (%s): %d sources: %d new, %d unchanged, %d stale, %d refused; "+
			"%d requests, %d retries, %d bytes in %.1f s",
		f.Source, f.Kind, len(f.Sources), f.Count(SourceNew), f.Count(SourceUnchanged),
		f.Count(SourceStale), f.Count(SourceRefused),
		f.Requests, f.Retries, f.Bytes, f.Seconds)
}

// notable are the sources worth a line: descriptions of packages, of which there are hundreds, only
// when they failed.
func (f *FetchReport) notable() []SourceReport {
	return slices.DeleteFunc(slices.Clone(f.Sources), func(s SourceReport) bool {
		return s.Role == "package" && (s.State == SourceNew || s.State == SourceUnchanged)
	})
}

// writeText writes the sources as a table.
func (f *FetchReport) writeText(w io.Writer) error {
	fmt.Fprintf(w, "catalog %s\n", f.summary())
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "source\tstate\tbytes\tseconds\tlast modified\twhy")
	for _, s := range f.notable() {
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
