package bulk

import (
	"path"
	"slices"
	"strings"
	"time"
)

// The STAC documents have the paths, the ids and the properties of those that OCHA publishes beside
// its Parquet files ("HDX HAPI Cloud-Native"): a collection of everything, one of each category,
// and an item of each dataset.

// Collection is the path of the collection of everything.
const Collection = "collection.json"

const (
	stacVersion    = "1.1.0"
	tableExtension = "https://stac-extensions.github.io/table/v1.2.0/schema.json"
	rootID         = "hdx-hapi"

	itemType = "application/geo+json"
)

// stacTypes are the types of columns where they differ from ours: times are text.
var stacTypes = map[string]string{"boolean": "bool", "timestamp": "string"}

// span is the time that records are about.
type span struct{ from, to string }

// add widens the span. Times are in one form, so their texts order like them.
func (s *span) add(from, to string) {
	if from != "" && (s.from == "" || from < s.from) {
		s.from = from
	}
	s.to = max(s.to, to)
}

// times are the beginning and the end in STAC, nil where there is none.
func (s *span) times() list {
	utc := func(text string) any {
		if text == "" {
			return nil
		}
		return text + "Z"
	}
	return list{utc(s.from), utc(s.to)}
}

// category is the collection of a category while it is made.
type category struct {
	items list // links
	span  span
}

func (m *Manifest) addSTAC(documents map[string]object) {
	categories, names, whole := map[string]*category{}, []string{}, span{}
	for i := range m.Tables {
		t := &m.Tables[i]
		files := t.of(HAPIParquet)
		if len(files) == 0 {
			continue
		}
		base, _, _ := strings.Cut(strings.TrimSuffix(files[0].Path, ".parquet"), "/admin_level=")
		theme, dataset, _ := strings.Cut(base, "/")
		c := categories[theme]
		if c == nil {
			c = &category{}
			categories[theme], names = c, append(names, theme)
		}
		item, about := m.item(t, files, theme, dataset)
		c.span.add(about.from, about.to)
		whole.add(about.from, about.to)
		c.items = append(c.items, link("item", "./"+dataset+".json", itemType, t.Title))
		documents[base+".json"] = item
	}
	if len(names) == 0 {
		return
	}
	slices.Sort(names)
	links := list{
		link("root", "./"+Collection, jsonType, title), link("describedby", "./manifest.json", jsonType, ""),
		link("describedby", "./sources.csv", "text/csv", "Sources and licences"),
	}
	for _, theme := range names {
		c := categories[theme]
		links = append(links, link("child", "./"+theme+"/"+Collection, jsonType, titleOf(theme)))
		above := list{
			link("root", "../"+Collection, jsonType, title), link("parent", "../"+Collection, jsonType, title),
		}
		documents[theme+"/"+Collection] = m.collection(rootID+"-"+theme, titleOf(theme), c.span, append(above,
			c.items...))
	}
	documents[Collection] = m.collection(rootID, title, whole, links)
}

func (m *Manifest) collection(id, title string, about span, links list) object {
	return object{
		"type": "Collection", "stac_version": stacVersion, "stac_extensions": list{tableExtension}, "id": id,
		"title": title, "description": m.about(), "license": "other", "links": links, "updated": m.updated(),
		"extent": object{
			"spatial":  object{"bbox": list{list{-180, -90, 180, 90}}},
			"temporal": object{"interval": list{about.times()}},
		},
		"item_assets": object{"data": asset("", "Parquet")},
	}
}

func (m *Manifest) updated() string { return m.Created.Format(time.RFC3339) }

// item describes the files of a table, and returns what time its records are about.
func (m *Manifest) item(t *Table, files []*File, theme, dataset string) (object, span) {
	var about span
	for _, f := range files {
		about.add(f.Min["reference_period_start"], f.Max["reference_period_end"])
	}
	columns := list{}
	for _, c := range t.Schema {
		if c.Type == "geometry" {
			continue
		}
		kind := c.Type
		if other, ok := stacTypes[kind]; ok {
			kind = other
		}
		columns = append(columns, object{"name": c.HAPIName, "type": kind, "description": c.Meaning})
	}
	properties := object{
		"title": t.Title, "updated": m.updated(), "theme": theme, "license": "other", "table:row_count": t.Rows,
		"table:columns": columns, "datetime": m.updated(),
	}
	if times := about.times(); times[0] != nil && times[1] != nil {
		properties["datetime"], properties["start_datetime"], properties["end_datetime"] = nil, times[0], times[1]
	}
	var providers list
	for _, name := range distinct(t.Sources, func(s Source) string { return s.Provider }) {
		providers = append(providers, object{"name": name, "roles": list{"producer"}})
	}
	if providers != nil {
		properties["providers"] = providers
	}
	links := list{
		link("root", "../"+Collection, jsonType, title), link("parent", "./"+Collection, jsonType, titleOf(theme)),
		link("collection", "./"+Collection, jsonType, titleOf(theme)),
	}
	for _, url := range distinct(t.Sources, licenseURL) {
		links = append(links, link("license", url, "", ""))
	}
	// Not the folder of the levels, which OCHA's items have as data: nothing answers at its path.
	assets := object{}
	for _, f := range files {
		name, title := "data", t.Title
		if _, level, found := strings.Cut(path.Dir(f.Path), "/admin_level="); found {
			name, title = "admin_level="+level, t.Title+", admin level "+level
		}
		assets[name] = asset("./"+strings.TrimPrefix(f.Path, theme+"/"), title)
	}
	return object{
		"type": "Feature", "stac_version": stacVersion, "stac_extensions": list{tableExtension},
		"id": theme + "/" + dataset, "geometry": nil, "properties": properties, "links": links, "assets": assets,
		"collection": rootID + "-" + theme,
	}, about
}

func asset(href, title string) object {
	a := object{"type": parquetType, "roles": list{"data"}, "title": title}
	if href != "" {
		a["href"] = href
	}
	return a
}

func link(rel, href, kind, title string) object {
	l := object{"rel": rel, "href": href}
	if kind != "" {
		l["type"] = kind
	}
	if title != "" {
		l["title"] = title
	}
	return l
}

// titleOf is the title of a category.
func titleOf(theme string) string {
	words := strings.Split(theme, "-")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:min(1, len(word))]) + word[min(1, len(word)):]
	}
	return strings.Join(words, " ")
}
