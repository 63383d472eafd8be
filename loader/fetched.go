package loader

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

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
	isGood := func(s SourceReport) bool { return s.State != SourceStale && s.State != SourceRefused }
	failed := slices.DeleteFunc(slices.Clone(f.Sources), isGood)
	slices.SortStableFunc(failed, ByHelp)
	if len(failed) > 0 && (!failed[0].NotAsked || len(f.Notes) == 0) {
		return failed[0].Why
	}
	return strings.Join(f.Notes, "; ")
}

// refusedOf finds a source of a role that could not be fetched and has no copy, nil without one.
func (f *FetchReport) refusedOf(role string) *SourceReport {
	if f == nil {
		return nil
	}
	for i, s := range f.Sources {
		if s.Role == role && s.State == SourceRefused {
			return &f.Sources[i]
		}
	}
	return nil
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
