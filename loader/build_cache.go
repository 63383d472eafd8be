package loader

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"hdqs/internal/atomicfile"
)

// BuildCache lets a load find out, without reading the catalog, that its result would be the
// current snapshot.
type BuildCache struct {
	File   string // the report of the last load; one file for each catalog, store and channel
	Inputs string // identifies the whole content of the catalog
}

// cachedBuild is the content of the file.
type cachedBuild struct {
	Inputs string  `json:"inputs"`
	Report *Report `json:"report"`
}

// maxBuildCache bounds the file.
const maxBuildCache = 64 << 20

// inputs sums up everything that decides the outcome of a load.
func (o *Options) inputs() string {
	h := sha256.New()
	fmt.Fprintln(h, programSum(), o.Cache.Inputs, o.CatalogURL, o.AllowNoPCodes, o.AllowShrink, o.StrictResources,
		o.AllowEmpty, cmp.Or(o.MaxRows, DefaultMaxRows))
	if o.Fetched != nil {
		for _, s := range o.Fetched.Sources {
			if s.State == SourceStale || s.State == SourceRefused {
				fmt.Fprintln(h, s.State, s.Role, s.Path)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// cachedReport returns the report of the last load if this one would repeat it: the inputs are the
// same, and the channel still shows the result. It checks that the segments exist and does not open
// them.
func (l *load) cachedReport(began time.Time) (*Report, bool) {
	m := l.opts.Cache
	if m.File == "" || m.Inputs == "" || programSum() == "" || l.previous.manifest == nil {
		return nil, false
	}
	var last cachedBuild
	f, err := os.Open(m.File)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if json.NewDecoder(io.LimitReader(f, maxBuildCache)).Decode(&last) != nil || last.Report == nil {
		return nil, false
	}
	r, current := last.Report, l.previous.manifest
	if last.Inputs != l.opts.inputs() || r.Snapshot != current.ID || len(r.Tables) != len(current.Tables) {
		return nil, false
	}
	for _, t := range current.Tables {
		path, err := l.opts.Store.SegmentPath(t.SHA256)
		if err != nil {
			return nil, false
		}
		if info, err := os.Stat(path); err != nil || info.Size() != t.Bytes {
			return nil, false
		}
	}
	for i := range r.Resources {
		r.Resources[i].Reused = true
	}
	for i := range r.Tables {
		r.Tables[i].Reused = true
	}
	r.Outcome, r.Fetched, r.Seconds = "unchanged", l.opts.Fetched, time.Since(began).Seconds()
	r.Fell = nil // the current snapshot has just these rows
	r.setPartial()
	return r, true
}

// saveReport keeps the report for the next load. If it cannot be written, that load reads the
// catalog.
func (l *load) saveReport(report *Report) {
	m := l.opts.Cache
	if m.File == "" || m.Inputs == "" {
		return
	}
	if err := m.write(cachedBuild{Inputs: l.opts.inputs(), Report: report}); err != nil {
		report.Notes = append(report.Notes, "the next load will read everything again: "+err.Error())
	}
}

func (m BuildCache) write(r cachedBuild) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return atomicfile.Write(m.File, data)
}
