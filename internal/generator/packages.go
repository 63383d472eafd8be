package generator

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
)

// dataset is a source package: what a provider published and a theme was made of.
type dataset struct {
	id, name, title     string
	provider, publisher string // stub and title of the organisation
	resources           []*resource
	envelope            bool        // its file has the envelope of a package_show answer
	used                atomic.Bool // a kept row refers to it
	always              bool        // listed even if no row refers to it
	unknown             bool        // rows refer to it, but no file describes it
}

// resource is a file of a dataset.
type resource struct {
	id, name, format string
	url              string
	modified         string // in CKAN's form, with microseconds
	check            fileCheck
	dataset          *dataset
	used             atomic.Bool
	unknown          bool
}

// fileCheck is the last result of the catalog's checker for a resource.
type fileCheck int

const (
	neverChecked fileCheck = iota // counts as tagged
	onlyStarted                   // counts as tagged
	plainSheets
	taggedSheets
	noSheets
)

func (c fileCheck) tagged() bool { return c != plainSheets && c != noSheets }

func (w *world) newDataset(name, title, provider, publisher string) *dataset {
	d := &dataset{id: uuid(w.seed, "dataset/"+name), name: name, title: title, provider: provider, publisher: publisher}
	w.datasets = append(w.datasets, d)
	w.byName[name] = d
	return d
}

func (w *world) addResource(d *dataset, name, format string) *resource {
	label := d.name + "/" + name
	id := uuid(w.seed, "resource/"+label)
	h := hashOf(w.seed, "modified/"+label)
	file := strings.ToLower(strings.NewReplacer(" ", "_", "(", "", ")", "", ",", "").Replace(name))
	r := &resource{
		id: id, name: name, format: format, dataset: d, check: fileCheck(h % 5),
		url: fmt.Sprintf("https://catalog.example.org/dataset/%s/resource/%s/download/%s.%s", d.id, id, file,
			strings.ToLower(format)),
		modified: fmt.Sprintf("20%02d-%02d-%02dT%02d:%02d:%02d.%06d", 23+h>>8%4, 1+h>>16%10, 1+h>>24%28, h>>32%24,
			h>>40%60, h>>48%60, h%1000000),
	}
	d.resources = append(d.resources, r)
	return r
}

// source returns the i-th resource of a dataset.
func (w *world) source(dataset string, i int) *resource { return w.byName[dataset].resources[i] }

// stub is the form of a location's code in names of datasets.
func (l *location) stub() string { return strings.ToLower(l.iso3) }

func (w *world) inventPackages() {
	for _, kind := range []string{"civilian-targeting", "demonstration", "political-violence"} {
		d := w.newDataset(kind+"-events", "Made-up "+strings.ReplaceAll(kind, "-", " ")+" events", "event-desk",
			"Event Desk (invented)")
		w.addResource(d, kind+"_events_and_fatalities_by_month", "XLSX")
		w.addResource(d, "Code book", "PDF")
	}
	people := w.newDataset("displacement-world", "Made-up data on forcibly displaced people of the world",
		"refuge-office", "Refuge Office (invented)")
	w.addResource(people, "Demographics and locations (Global)", "CSV")
	w.addResource(people, "Solutions, returns (Global)", "CSV")
	tracking := w.newDataset("displacement-tracking", "Made-up displacement tracking", "tracking-desk",
		"Tracking Desk (invented)")
	w.addResource(tracking, "Global data for admin levels 0-2", "CSV")
	hunger := w.newDataset("acute-food-insecurity", "Made-up acute food insecurity of countries", "phase-board",
		"Phase Board (invented)")
	for _, name := range []string{"national long latest", "level1 long latest", "area long latest"} {
		w.addResource(hunger, name, "CSV")
	}
	risk := w.newDataset("inform-risk-index-made-up", "Risk index (all figures invented)", "risk-lab",
		"Risk Lab (invented)")
	risk.always = true
	w.addResource(risk, "Method", "PDF")
	w.addResource(risk, "Risk index 2026", "XLSX").used.Store(true)
	w.addResource(risk, "Risk index trends", "XLSX")
	presence := w.newDataset("hdx-hapi-organisations", "Organisations of the made-up world", "catalog-team",
		"Catalog Team (invented)")
	presence.always = true
	w.addResource(presence, "Organisations", "CSV")
	prices := w.newDataset("food-prices", "Made-up food prices", "price-watch", "Price Watch (invented)")
	w.addResource(prices, "Global prices", "CSV")
	odd := w.addResource(prices, "Global prices, elsewhere", "CSV")
	odd.url = "HTTPS://Files.Example.ORG:443/a b/prices%20all.csv?x=1 2"
	for _, l := range w.deep {
		w.inventCountryPackages(l)
	}
	cod := w.newDataset("cod-ab-made-up", "Boundaries nobody refers to", "map-room", "Map Room (invented)")
	w.addResource(cod, "Boundaries", "SHP")
	stray := w.newDataset("hdx-hapi-stray", "A package of the service itself", "catalog-team",
		"Catalog Team (invented)")
	w.addResource(stray, "Never listed", "CSV")
	for i, d := range w.datasets {
		d.envelope = i%5 == 1
	}
}

func (w *world) inventCountryPackages(l *location) {
	d := w.newDataset("cod-ps-"+l.stub(), l.name+" - Subnational Population (invented)", "count-office",
		"Count Office (invented)")
	w.addResource(d, l.stub()+"_admpop_2024.xlsx", "XLSX")
	w.addResource(d, l.stub()+"_admpop_2024 adm0", "CSV")
	d = w.newDataset(l.stub()+"-rainfall-subnational", l.name+": Rainfall Indicators (invented)", "rain-watch",
		"Rain Watch (invented)")
	w.addResource(d, l.stub()+"-rainfall-adm1-5ytd", "CSV")
	w.addResource(d, l.stub()+"-rainfall-adm2-full", "CSV")
	d = w.newDataset("fts-requirements-and-funding-"+l.stub(), l.name+" - Requirements, Funding (invented)",
		"money-desk", "Money Desk, “FTS-like” (invented)")
	w.addResource(d, "fts_requirements_funding_"+l.stub(), "csv")
	d = w.newDataset(l.stub()+"-mpi", l.name+": Multi-dimensional Poverty (invented)", "poverty-lab",
		"Poverty Lab, Université (invented)")
	w.addResource(d, l.stub()+"_mpi_trends", "CSV")
	if !l.plan {
		return
	}
	d = w.newDataset(l.stub()+"-operational-presence", l.name+": Who does what, where? (invented)",
		"ocha-like-"+l.stub(), "Field Office "+l.name+" (invented)")
	w.addResource(d, "3W "+l.stub()+" 2025", "XLSX")
	w.addResource(d, "3W "+l.stub()+" 2024", "XLSX")
	d = w.newDataset(l.stub()+"-humanitarian-needs", l.name+": Humanitarian Needs (invented)", "plan-desk",
		"Plan Desk (invented)")
	for year := lastYear; year > lastYear-3; year-- {
		w.addResource(d, fmt.Sprintf("%s_hpc_needs_%d", l.stub(), year), "XLSX")
	}
}

// unknown returns sources that no package describes: one with a known dataset, two without.
func (w *world) unknown(i int) *resource {
	switch i % 3 {
	case 0:
		return &resource{id: "5678", unknown: true, dataset: &dataset{id: "1234", unknown: true}}
	case 1:
		return &resource{id: uuid(w.seed, "resource/gone"), unknown: true, dataset: w.byName["displacement-tracking"]}
	}
	return &resource{
		id: uuid(w.seed, "resource/never"), unknown: true,
		dataset: &dataset{id: uuid(w.seed, "dataset/never"), unknown: true},
	}
}

// packageJSON is a package in the form of package_show, with the keys that a reader may need.
func (d *dataset) packageJSON() ([]byte, error) {
	type object = map[string]any
	var resources []object
	for i, r := range d.resources {
		o := object{
			"id": r.id, "name": r.name, "format": r.format, "url": r.url, "download_url": r.url, "hash": "",
			"size":          1000 + 17*i,
			"last_modified": r.modified, "metadata_modified": r.modified, "created": "2020-02-05T09:56:08.767461",
			"package_id": d.id, "position": i, "state": "active", "url_type": "upload",
			"resource_type": "file.upload", "mimetype": nil,
		}
		if text := r.check.text(r); text != "" {
			o["fs_check_info"] = text
		}
		resources = append(resources, o)
	}
	o := object{
		"id": d.id, "name": d.name, "title": d.title, "state": "active", "private": false, "archived": false,
		"type":          "dataset",
		"dataset_date":  "[2019-06-01T00:00:00 TO *]",
		"last_modified": "2026-10-01T07:00:00.000001", "metadata_modified": "2026-10-01T07:00:01.5",
		"license_id": "cc-by", "license_title": "Creative Commons Attribution International",
		"notes": "Made up by a generator.\r\nNo figure in it is true.",
		"organization": object{
			"id": d.provider + "-id", "name": d.provider, "title": d.publisher,
			"type": "organization",
		},
		"groups": []object{{"name": "world"}}, "num_resources": len(resources), "resources": resources,
	}
	if d.envelope {
		o = object{
			"help": "https://catalog.example.org/api/3/action/help_show?name=package_show", "success": true,
			"result": o,
		}
	}
	text, err := json.Marshal(o)
	return append(text, '\n'), err
}

// text is the fs_check_info of a resource: a list of states, newest last.
func (c fileCheck) text(r *resource) string {
	const started = `{"state": "processing", "message": "started", "timestamp": "2026-01-02T03:04:05.000006"}`
	done := func(sheets string) string {
		return `{"state": "success", "message": "completed", "timestamp": "2026-01-02T03:05:06.000007", ` +
			`"hxl_proxy_response": {"format": "` + r.format + `", "sheets": [` + sheets + `]}}`
	}
	sheet := func(tagged bool) string {
		return fmt.Sprintf(`{"name": "s", "is_hidden": false, "nrows": 9, "ncols": 3, "is_hxlated": %t, `+
			`"headers": ["a", "b", "c"]}`, tagged)
	}
	switch c {
	case onlyStarted:
		return "[" + started + "]"
	case plainSheets: // an older success has another result: the newest counts
		return "[" + done(sheet(true)) + ", " + started + ", " + done(sheet(false)) + "]"
	case taggedSheets:
		return "[" + started + ", " + done(sheet(false)+", "+sheet(true)) + ", " + started + "]"
	case noSheets:
		return "[" + done("") + "]"
	}
	return ""
}
