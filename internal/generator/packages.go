package generator

import (
	_ "embed"
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
}

type resource struct {
	id, name, format string
	url              string
	modified         string // in CKAN's form, with microseconds
	check            fileCheck
	dataset          *dataset
	used             atomic.Bool
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

// packages are the datasets of the catalog.
type packages struct {
	seed     uint64
	datasets []*dataset
	byName   map[string]*dataset
}

func (p *packages) addResource(d *dataset, name, format string) {
	label := d.name + "/" + name
	id := uuid(p.seed, "resource/"+label)
	h := hashOf(p.seed, "modified/"+label)
	file := strings.ToLower(strings.NewReplacer(" ", "_", "(", "", ")", "", ",", "").Replace(name))
	r := &resource{
		id: id, name: name, format: format, dataset: d, check: fileCheck(h % 5),
		url: fmt.Sprintf("https://catalog.example.org/dataset/%s/resource/%s/download/%s.%s", d.id, id, file,
			strings.ToLower(format)),
		modified: fmt.Sprintf("%d-11-%02dT%02d:%02d:%02d.%06d", lastYear, 1+h>>24%20, h>>32%24, h>>40%60, h>>48%60,
			h%1000000),
	}
	d.resources = append(d.resources, r)
}

func (p *packages) source(dataset string, i int) *resource { return p.byName[dataset].resources[i] }

// stub is the form of a location's code in names of datasets.
func (l *location) stub() string { return strings.ToLower(l.iso3) }

//go:embed packages.txt
var packagesText string

func (p *packages) invent(deep []*location) {
	var ofCountry []string
	for line := range strings.Lines(packagesText) {
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "#"):
		case strings.Contains(line, "{code}"):
			ofCountry = append(ofCountry, line)
		default:
			if strings.HasPrefix(line, "cod-ab") { // after those of the countries
				p.inventOfCountries(deep, ofCountry)
			}
			p.inventOne(line)
		}
	}
	for _, name := range []string{"inform-risk-index-made-up", "hdx-hapi-organisations"} {
		p.byName[name].always = true
	}
	p.source("inform-risk-index-made-up", 1).used.Store(true)
	p.source("food-prices", 1).url = "HTTPS://Files.Example.ORG:443/a b/prices%20all.csv?x=1 2"
	for i, d := range p.datasets {
		d.envelope = i%5 == 1
	}
}

func (p *packages) inventOfCountries(deep []*location, lines []string) {
	for _, l := range deep {
		filled := strings.NewReplacer("{code}", l.stub(), "{name}", l.name)
		for _, line := range lines {
			line, withPlan := strings.CutPrefix(line, "+")
			if l.plan || !withPlan {
				p.inventOne(filled.Replace(line))
			}
		}
	}
}

// inventOne adds the dataset of a line, with its resources.
func (p *packages) inventOne(line string) {
	f := strings.Split(line, "|")
	d := &dataset{id: uuid(p.seed, "dataset/"+f[0]), name: f[0], title: f[1], provider: f[2], publisher: f[3]}
	p.datasets = append(p.datasets, d)
	p.byName[d.name] = d
	for _, resource := range f[4:] {
		name, format, _ := strings.Cut(resource, "=")
		p.addResource(d, name, format)
	}
}

// unknown returns sources that no package describes: one with a known dataset, two without.
func (p *packages) unknown(i int) *resource {
	switch i % 3 {
	case 0:
		return &resource{id: "5678", dataset: &dataset{id: "1234"}}
	case 1:
		return &resource{id: uuid(p.seed, "resource/gone"), dataset: p.byName["displacement-tracking"]}
	}
	return &resource{id: uuid(p.seed, "resource/never"), dataset: &dataset{id: uuid(p.seed, "dataset/never")}}
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
