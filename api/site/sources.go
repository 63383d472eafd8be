package site

import (
	"encoding/json"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/snapshot/store"
)

// SourcesPath is the path of what programs ask of the sources of lists: whose they are, under which
// licence, and how old. The parameter list names one.
const SourcesPath = "/sources"

// Sources are the sources of lists in a snapshot.
type Sources struct {
	Snapshot string        `json:"snapshot"`
	Loaded   string        `json:"loaded"`
	Earlier  []string      `json:"earlier"` // ids of snapshots that changes can be asked since
	Lists    []ListSources `json:"lists"`
}

// ListSources are the sources of a list.
type ListSources struct {
	List    string `json:"list"`
	Path    string `json:"path"`
	Title   string `json:"title"`
	Records int    `json:"records"`
	Period  string `json:"period"` // as ISO 8601 has it, with two dots for an open end
	store.TableSource
	Datasets []SourceDataset `json:"datasets"`
}

// SourceDataset is a dataset with its address in the catalog.
type SourceDataset struct {
	store.Dataset
	Link string `json:"link"`
}

// sourcesOf are the sources of a list of a mount, or of all if the name is empty.
func (s *Site) sourcesOf(m *list.Mount, v *state.Served, name string) *Sources {
	manifest := v.Bound.Snap.Manifest
	all := &Sources{v.Id, manifest.SnapshotTime.UTC().Format("2006-01-02T15:04:05Z"), []string{}, []ListSources{}}
	all.Earlier = append(all.Earlier, s.State.Snapshots.Retained.Ids()...)
	for _, e := range contract.EndpointsIn(m.Names) {
		if name != "" && e.Name() != name {
			continue
		}
		of := ListSources{
			List: e.Name(), Path: m.Prefix + e.Path, Title: e.Summary, TableSource: manifest.Source(e.Table),
			Records: v.Bound.Lists[e.Contract().Path].Rows, Period: v.Bound.Coverage(e.Contract()).Interval(),
			Datasets: []SourceDataset{},
		}
		for _, id := range of.TableSource.Datasets {
			d, _ := manifest.Dataset(id)
			page := state.PageDatasetOf(manifest, id)
			d.ID, d.Title, d.License, d.LicenseURL = id, page.Title, page.License, page.LicenseURL
			of.Datasets = append(of.Datasets, SourceDataset{d, page.Link})
		}
		all.Lists = append(all.Lists, of)
	}
	return all
}

// addSources registers the sources of a mount.
func (s *Site) addSources(m *list.Mount) {
	head := s.sharedHead(contract.JSONType)
	s.english(m).add(SourcesPath, SourcesPath, func(ctx *fasthttp.RequestCtx) error {
		return s.withSnapshot(snapshotIn(ctx), func(v *state.Served) error {
			body, err := json.Marshal(s.sourcesOf(m, v, string(ctx.QueryArgs().Peek("list"))))
			return s.sendMade(ctx, &head, SourcesPath, body, err)
		})
	})
}
