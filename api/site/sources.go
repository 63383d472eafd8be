package site

import (
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
)

// SourcesOf are the sources of a list of a mount, or of all if the name is empty.
func SourcesOf(of *state.State, m *list.Mount, v *state.Served, name string) *state.Sources {
	manifest := v.Bound.Snap.Manifest
	all := &state.Sources{
		Snapshot: v.Id, Loaded: manifest.SnapshotTime.UTC().Format("2006-01-02T15:04:05Z"),
		Earlier: append([]string{}, of.Snapshots.Retained.Ids()...), Lists: []state.ListSources{},
	}
	for _, e := range contract.EndpointsIn(m.Names) {
		if name != "" && e.Name() != name {
			continue
		}
		l := state.ListSources{
			List: e.Name(), Path: m.Prefix + e.Path, Title: e.Summary, TableSource: manifest.Source(e.Table),
			Records: v.Bound.Lists[e.Contract().Path].Rows, Period: v.Bound.Coverage(e.Contract()).Interval(),
			Datasets: []state.SourceDataset{},
		}
		for _, id := range l.TableSource.Datasets {
			d, _ := manifest.Dataset(id)
			page := state.PageDatasetOf(manifest, id)
			d.ID, d.Title, d.License, d.LicenseURL = id, page.Title, page.License, page.LicenseURL
			l.Datasets = append(l.Datasets, state.SourceDataset{Dataset: d, Link: page.Link})
		}
		all.Lists = append(all.Lists, l)
	}
	return all
}
