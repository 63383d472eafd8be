package site

import (
	"encoding/json"
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// SourcesPath is the path of what programs ask of the sources of lists: whose they are, under which
// licence, and how old.
const SourcesPath = "/sources"

// Sources are the sources of lists in a snapshot.
type Sources struct {
	Snapshot string        `json:"snapshot"`
	Loaded   string        `json:"loaded"`
	Earlier  []string      `json:"earlier"` // ids of snapshots that changes can be asked since
	Lists    []ListSources `json:"lists"`
}

// ListSources are the sources of a list. A text is empty if it is not known.
type ListSources struct {
	List     string        `json:"list"`
	Path     string        `json:"path"`
	Title    string        `json:"title"`
	Records  int           `json:"records"`
	Period   string        `json:"period"`  // as ISO 8601 has it, with two dots for an open end
	Updated  string        `json:"updated"` // when the newest source was changed
	Stale    string        `json:"stale_since"`
	Datasets []DatasetInfo `json:"datasets"`
}

// DatasetInfo is a source of a list. A text is empty if it is not known.
type DatasetInfo struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Provider   string `json:"provider"`
	Link       string `json:"link"`
	License    string `json:"license"`
	LicenseURL string `json:"license_url"`
	Terms      string `json:"terms,omitempty"`
	Caveats    string `json:"caveats,omitempty"`
	Updated    string `json:"updated"`
}

func textOfTime(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// sourcesOf are the sources of a list of a mount, or of all if the name is empty.
func (s *Site) sourcesOf(m *list.Mount, v *state.Served, name string) *Sources {
	manifest := v.Bound.Snap.Manifest
	all := &Sources{
		Snapshot: v.Id, Loaded: textOfTime(manifest.SnapshotTime), Lists: []ListSources{},
		Earlier: append([]string{}, s.Retained.Ids()...),
	}
	endpoints := contract.EndpointsIn(m.Names)
	for i := range endpoints {
		e := endpoints[i].Contract()
		if name != "" && endpoints[i].Name() != name {
			continue
		}
		source := manifest.Source(e.Table)
		of := ListSources{
			List: endpoints[i].Name(), Path: m.Prefix + endpoints[i].Path, Title: e.Summary,
			Records: v.Bound.Lists[e.Path].Rows, Period: v.Bound.Coverage(e).Interval(),
			Updated: textOfTime(source.Updated), Stale: textOfTime(source.StaleSince), Datasets: []DatasetInfo{},
		}
		for _, id := range source.Datasets {
			d, page := DatasetInfo{ID: id}, state.PageDatasetOf(manifest, id)
			d.Title, d.Provider, d.Link, d.License = page.Title, page.Provider, page.Link, page.License
			d.LicenseURL, d.Terms, d.Caveats = page.LicenseURL, page.Terms, page.Caveats
			if known, ok := manifest.Dataset(id); ok {
				d.Updated = textOfTime(known.Updated)
			}
			of.Datasets = append(of.Datasets, d)
		}
		all.Lists = append(all.Lists, of)
	}
	return all
}

// addSources registers the sources of a mount, and of one list with the parameter list.
func (s *Site) addSources(m *list.Mount) {
	head := list.NewPageHead(contract.JSONType, reply.DataPolicy, reply.LandingKey, s.PageFields()...)
	s.Add(m, SourcesPath, list.Route{Name: SourcesPath, Handler: s.Limited(func(ctx *fasthttp.RequestCtx) error {
		v, err := s.AcquireFor(string(ctx.QueryArgs().Peek(contract.SnapshotParam)))
		if err != nil {
			return err
		}
		defer v.Release(s.Log)
		body, err := json.Marshal(s.sourcesOf(m, v, string(ctx.QueryArgs().Peek("list"))))
		if err == nil {
			s.SendPage(ctx, &head, body)
		}
		return err
	})})
}
