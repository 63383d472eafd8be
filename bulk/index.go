package bulk

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"
)

// Index lists the snapshots that have bulk files, in the form of a STAC catalog, the newest first.
type Index struct {
	Type        string `json:"type"`
	Version     string `json:"stac_version"`
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Links       []Link `json:"links"`
}

// Link is a link of an Index. Those with Snapshot are to the manifests of snapshots.
type Link struct {
	Rel      string    `json:"rel"`
	Href     string    `json:"href"` // relative to the index
	Type     string    `json:"type"`
	Title    string    `json:"title,omitempty"`
	Snapshot string    `json:"snapshot,omitempty"`
	Created  time.Time `json:"created,omitzero"`
	Rows     int       `json:"rows,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
	Licenses []string  `json:"licenses,omitempty"` // of the datasets of its rows
}

const jsonType = "application/json"

// NewestFirst sorts manifests.
func NewestFirst(manifests []*Manifest) {
	slices.SortFunc(manifests, func(a, b *Manifest) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Snapshot, a.Snapshot))
	})
}

// NewIndex makes the index of some manifests, which it sorts.
func NewIndex(manifests []*Manifest) *Index {
	x := &Index{
		Type: "Catalog", Version: "1.1.0", ID: "bulk", Title: "Whole tables of snapshots",
		Description: "Manifests are of one snapshot each: its files with sizes, digests, columns and sources. " +
			"Children are the collections of those with files in the layout of HDX HAPI.",
		Links: []Link{
			{Rel: "self", Href: "index.json", Type: jsonType}, {Rel: "root", Href: "index.json", Type: jsonType},
		},
	}
	NewestFirst(manifests)
	for _, m := range manifests {
		link := Link{
			Rel: "manifest", Href: m.Snapshot + "/manifest.json", Type: jsonType, Title: "Snapshot " + m.Snapshot,
			Snapshot: m.Snapshot, Created: m.Created, Licenses: m.licenses(),
		}
		for f := range m.All {
			link.Bytes += f.Bytes
		}
		for _, t := range m.Tables {
			link.Rows += t.Rows
		}
		x.Links = append(x.Links, link)
		if slices.ContainsFunc(m.Tables, func(t Table) bool { return t.of(HAPIParquet) != nil }) {
			x.Links = append(x.Links, Link{
				Rel: "child", Href: m.Snapshot + "/" + Collection, Type: jsonType, Title: "Snapshot " + m.Snapshot,
			})
		}
	}
	return x
}

func (m *Manifest) licenses() []string {
	var sources []Source
	for _, t := range m.Tables {
		sources = append(sources, t.Sources...)
	}
	return distinct(sources, func(s Source) string { return s.License })
}

// Encode returns the index as JSON.
func (x *Index) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(x, "", " ")
	return append(data, '\n'), err
}

// Manifests are the manifests of the snapshots that are in only, or of all if that is nil.
func (b *Bulk) Manifests(only map[string]bool) (all []*Manifest, err error) {
	ids, err := b.Snapshots()
	for _, id := range ids {
		if only != nil && !only[id] {
			continue
		}
		m, err := b.Manifest(id)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, err
}
