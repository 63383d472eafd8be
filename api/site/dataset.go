package site

import (
	"cmp"
	"slices"
	"strings"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/snapshot/store"
)

// LinkedDataset describes an endpoint's records to search engines (JSON-LD, schema.org/Dataset).
// All of it comes from the endpoint's declaration and the snapshot.
type LinkedDataset struct {
	Context       string           `json:"@context"`
	Type          string           `json:"@type"`
	Name          string           `json:"name"`
	Description   string           `json:"description"`
	URL           string           `json:"url"`
	Identifier    string           `json:"identifier"`
	Version       string           `json:"version"` // id of the snapshot
	Free          bool             `json:"isAccessibleForFree"`
	DateModified  string           `json:"dateModified,omitempty"`
	License       []string         `json:"license,omitempty"`
	Provider      []linkedThing    `json:"provider,omitempty"`
	Sources       []linkedThing    `json:"isBasedOn,omitempty"`
	Variables     []linkedVariable `json:"variableMeasured,omitempty"`
	Period        string           `json:"temporalCoverage,omitempty"`
	Places        []linkedThing    `json:"spatialCoverage,omitempty"`
	Distributions []linkedDownload `json:"distribution"`
}

// linkedThing is an organisation, a place or a dataset.
type linkedThing struct {
	Type       string `json:"@type"`
	Name       string `json:"name"`
	Identifier string `json:"identifier,omitempty"`
	URL        string `json:"url,omitempty"`
}

type linkedVariable struct {
	Type        string `json:"@type"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type linkedDownload struct {
	Type   string `json:"@type"`
	Format string `json:"encodingFormat"`
	URL    string `json:"contentUrl"`
}

// mostLinked is how many licences, providers, sources and places a description lists: a page must
// not grow with the number of sources.
const mostLinked = 10

// newLinkedDataset describes an endpoint. Places are the countries of its records.
func newLinkedDataset(m *list.Mount, b *state.Bound, e *contract.Endpoint, base string,
	places []linkedThing,
) *LinkedDataset {
	root, manifest := base+m.Prefix, b.Snap.Manifest
	source := manifest.Source(e.Table)
	file := root + browsePath + e.Name() + browse.DownloadPath + "?output_format=" // which needs no identifier
	d := &LinkedDataset{
		Context: "https://schema.org", Type: "Dataset", Name: e.Summary, Description: descriptionOf(e),
		URL: root + browsePath + e.Name(), Identifier: e.Name(), Version: manifest.ID, Free: true,
		Period: b.Coverage(e.Contract()).Interval(), Places: places,
		Distributions: []linkedDownload{
			{"DataDownload", "text/csv", file + contract.FormatCSV},
			{"DataDownload", "application/vnd.apache.parquet", file + contract.FormatParquet},
		},
	}
	if !source.Updated.IsZero() {
		d.DateModified = state.DayOf(source.Updated)
	}
	for _, f := range e.Figures {
		if name := e.Names().Name(f.Field); f.Use != contract.Label {
			d.Variables = append(d.Variables, linkedVariable{"PropertyValue", name, e.Texts().Meaning(name)})
		}
	}
	d.addSources(manifest, source.Datasets)
	return d
}

// addSources adds what is known of datasets: licences, providers, and a few links.
func (d *LinkedDataset) addSources(m *store.Manifest, ids []string) {
	for _, id := range ids {
		source, ok := m.Dataset(id)
		if !ok {
			continue
		}
		title, address := state.LicenseOf(m, &source)
		license := cmp.Or(address, title)
		if license != "" && !slices.Contains(d.License, license) && len(d.License) < mostLinked {
			d.License = append(d.License, license)
		}
		provider := linkedThing{Type: "Organization", Name: source.Publisher}
		if provider.Name != "" && !slices.Contains(d.Provider, provider) && len(d.Provider) < mostLinked {
			d.Provider = append(d.Provider, provider)
		}
		if link := state.DatasetLink(m, &source); link != "" && len(d.Sources) < mostLinked {
			d.Sources = append(d.Sources, linkedThing{Type: "Dataset", Name: state.TitleOf(&source), URL: link})
		}
	}
}

// descriptionOf is what an endpoint's records are, and how they may be added up.
func descriptionOf(e *contract.Endpoint) string {
	first := e.Summary + ". Records can be filtered, and read as CSV or JSON."
	return contract.Sentences(first, e.Note, e.Texts().AddingUp())
}

// linkedOf describes an endpoint from a snapshot.
func (q *asker) linkedOf(e *contract.Endpoint, base string) (*LinkedDataset, error) {
	places, err := q.placesOf(e)
	if err != nil {
		return nil, err
	}
	return newLinkedDataset(q.mount, q.served.Bound, e, base, places), nil
}

// placesKey is the path of a list, as the key of its countries in what a snapshot keeps.
type placesKey string

// placesOf are the countries of an endpoint's records, or how many there are if they are more than
// a few. They are counted once for each snapshot.
func (q *asker) placesOf(e *contract.Endpoint) ([]linkedThing, error) {
	key := placesKey(e.Contract().Path)
	return list.MadeOf(q.served, key, func() ([]linkedThing, error) { return q.askPlaces(e) })
}

func (q *asker) askPlaces(e *contract.Endpoint) ([]linkedThing, error) {
	const field = "location_code"
	if !e.HasField(field) {
		return nil, nil
	}
	found, err := q.Ask(contract.Ask(e, contract.Facets).GroupBy(field))
	if err != nil {
		return nil, err
	}
	if n := len(found.Records); n > mostLinked {
		return []linkedThing{{Type: "Place", Name: browse.Count(n) + " places" + " with codes of ISO 3166"}}, nil
	}
	countries, err := q.Ask(contract.Ask(contract.EndpointOf("location", e.Names()), contract.Rows))
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, c := range countries.Records {
		names[c.Value("code")] = c.Value("name")
	}
	var places []linkedThing
	for _, r := range found.Records {
		code := r.Value("value")
		places = append(places, linkedThing{Type: "Place", Name: cmp.Or(names[code], code), Identifier: code})
	}
	slices.SortFunc(places, func(a, b linkedThing) int { return strings.Compare(a.Name, b.Name) })
	return places, nil
}
