package store

import (
	"cmp"
	"slices"
	"time"
)

// TableSource says where the rows of a table come from, and how old they are.
type TableSource struct {
	Table string `json:"table"`

	// Updated is the time of the newest change of a source that the table has, zero when it is not
	// known.
	Updated time.Time `json:"updated,omitzero"`

	// StaleSince is when a newer form of a source could not be used for the first time, so that the
	// table has an older one; zero when it has the newest. StaleWhy is the reason.
	StaleSince time.Time `json:"stale_since,omitzero"`
	StaleWhy   string    `json:"stale_why,omitempty"`

	Datasets []string `json:"datasets,omitempty"` // ids of the datasets of its rows, ascending
}

// Dataset describes a source of rows. A text that the source does not give is empty.
type Dataset struct {
	ID         string    `json:"id"`
	Name       string    `json:"name,omitempty"` // in links
	Title      string    `json:"title,omitempty"`
	Publisher  string    `json:"publisher,omitempty"`
	License    string    `json:"license,omitempty"`     // its title, or id
	LicenseURL string    `json:"license_url,omitempty"` // http or https
	Terms      string    `json:"terms,omitempty"`       // of a license that has no name
	Caveats    string    `json:"caveats,omitempty"`
	Updated    time.Time `json:"updated,omitzero"`
}

// Source finds what is known about the rows of a table. Only the name is set when nothing is, as in
// manifests of format 1.
func (m *Manifest) Source(table string) TableSource {
	for _, s := range m.Sources {
		if s.Table == table {
			return s
		}
	}
	return TableSource{Table: table}
}

// Dataset finds a dataset by its id.
func (m *Manifest) Dataset(id string) (d Dataset, ok bool) {
	i, ok := slices.BinarySearchFunc(m.Datasets, id, func(d Dataset, id string) int { return cmp.Compare(d.ID, id) })
	if !ok {
		return d, false
	}
	return m.Datasets[i], true
}

// checkSources checks that sources belong to tables of the manifest and that datasets can be found.
func (m *Manifest) checkSources() error {
	if m.Format < 2 && len(m.Sources)+len(m.Datasets) > 0 {
		return corruptf("manifest %s of format %d has sources, which format 2 added", m.ID, m.Format)
	}
	seen := map[string]bool{}
	for _, s := range m.Sources {
		switch {
		case !slices.ContainsFunc(m.Tables, func(ref SegmentRef) bool { return ref.Table == s.Table }):
			return corruptf("manifest %s has sources of table %.40q, which it does not have", m.ID, s.Table)
		case seen[s.Table]:
			return corruptf("manifest %s has the sources of table %q twice", m.ID, s.Table)
		}
		seen[s.Table] = true
	}
	for i := range m.Datasets {
		if i > 0 && m.Datasets[i-1].ID >= m.Datasets[i].ID || m.Datasets[i].ID == "" {
			return corruptf("manifest %s: the ids of its datasets do not ascend at %.40q", m.ID, m.Datasets[i].ID)
		}
	}
	return nil
}
