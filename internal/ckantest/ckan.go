// Package ckantest is a CKAN site for tests. It serves a directory catalog through the actions
// package_search and package_show. Downloads redirect to links that work once. Tests can switch on
// faults of real sites one by one.
package ckantest

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Site serves the catalog in Files. Change its fields only under Lock.
type Site struct {
	sync.Mutex
	Files fs.FS // catalog.json, the files that it lists, and packages/*.json

	// Override replaces the content of a path. Modified replaces its last_modified.
	Override map[string][]byte
	Modified map[string]string
	// Edit, if set, changes a package before each answer.
	Edit func(pkg map[string]any)
	// Fault, if set, may respond to a request itself. It returns true if it did.
	Fault func(w http.ResponseWriter, r *http.Request) bool

	Requests map[string]int // by kind: search, show, download, file
	links    map[string]string
	read     *content // parsed Files; nil before the first request
}

type content struct {
	entries  []entry
	packages []json.RawMessage // as in the files, without envelopes
}

// datasets holds the dataset and the resource name of roles whose resources are found by name. The
// names are those of the real site.
var datasets = map[string]struct{ dataset, resource string }{
	"market":    {"hdx-hapi-food-price", "Global Food Security, Nutrition & Poverty: Markets"},
	"commodity": {"hdx-hapi-food-price", "Global Food Security, Nutrition & Poverty: Commodities"},
	"currency":  {"hdx-hapi-food-price", "Global Food Security, Nutrition & Poverty: Currencies"},
	"org":       {"hdx-hapi-organisations", "Global Coordination & Context: Organisations"},
	"pcodes":    {"global-pcodes", "global_pcodes_adm_1_2.csv"},
	"org-type":  {"organization-types-beta", "Organization Types (Beta) - CSV no HXL"},
	"sector":    {"global-coordination-groups-beta", "Global Coordination Groups (Beta) CSV no HXL"},

	"national-risk":   {"hdx-hapi-national-risk", "Global Coordination & Context: National Risk"},
	"conflict-events": {"hdx-hapi-conflict-event", "Global Coordination & Context: Conflict Events (%s)"},

	"food-prices-market-monitor": {"hdx-hapi-food-price", "Global Food Security, Nutrition & Poverty: Food Prices %s"},
}

type object = map[string]any

type entry struct {
	Role, Path, Dataset, ID, SHA256 string
	LastModified                    string `json:"last_modified"`
	Size                            int64
}

var year = regexp.MustCompile(`(\d{4})\.csv`)

func (s *Site) open() (*content, error) {
	if s.read != nil {
		return s.read, nil
	}
	var catalog struct{ Resources []entry }
	data, err := fs.ReadFile(s.Files, "catalog.json")
	if err == nil {
		err = json.Unmarshal(data, &catalog)
	}
	if err != nil {
		return nil, err
	}
	c := &content{entries: catalog.Resources}
	paths, err := fs.Glob(s.Files, "packages/*.json")
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		data, err := fs.ReadFile(s.Files, p)
		if err != nil {
			return nil, err
		}
		var envelope struct{ Result json.RawMessage }
		if err := json.Unmarshal(data, &envelope); err != nil {
			return nil, err
		}
		if envelope.Result != nil {
			data = envelope.Result
		}
		c.packages = append(c.packages, data)
	}
	s.read = c
	return c, nil
}

// packages returns the source packages and the datasets that catalog.json describes.
func (s *Site) packages(base string) ([]object, error) {
	c, err := s.open()
	if err != nil {
		return nil, err
	}
	var all []object
	byName := map[string]object{}
	for _, text := range c.packages {
		var x object
		if err := json.Unmarshal(text, &x); err != nil {
			return nil, err
		}
		byName[fmt.Sprint(x["name"])] = x
		all = append(all, x)
	}
	for _, e := range c.entries {
		name, title := e.Dataset, e.Role
		if known, ok := datasets[e.Role]; ok {
			name, title = known.dataset, known.resource
			if strings.Contains(title, "%s") {
				title = fmt.Sprintf(title, year.FindStringSubmatch(e.Path)[1])
			}
		}
		if name == "" {
			continue
		}
		x := byName[name]
		if x == nil {
			x = object{
				"id": idOf(name), "name": name, "state": "active", "title": name,
				"organization": object{"name": "hdx-hapi"}, "resources": []any{},
			}
			byName[name] = x
			all = append(all, x)
		}
		resources, _ := x["resources"].([]any)
		if e.Role == "org" || e.Role == "org-type" || e.Role == "sector" {
			resources = nil // those of a package of this name in the catalog link to other sites
		}
		x["resources"] = append(resources, s.resource(base, title, e))
	}
	for _, x := range all {
		if s.Edit != nil {
			s.Edit(x)
		}
	}
	slices.SortFunc(all, func(a, b object) int { return strings.Compare(fmt.Sprint(a["id"]), fmt.Sprint(b["id"])) })
	return all, nil
}

func idOf(name string) string {
	return fmt.Sprintf("made-up-%s", strings.ReplaceAll(name, " ", "-"))
}

func (s *Site) resource(base, title string, e entry) object {
	if e.ID == "" {
		e.ID = idOf(e.Path)
	}
	size := any(e.Size)
	if data, ok := s.Override[e.Path]; ok {
		size = len(data)
	}
	if e.LastModified == "" {
		e.LastModified = "2026-11-20T09:31:02"
	}
	if at, ok := s.Modified[e.Path]; ok {
		e.LastModified = at
	}
	return object{
		"id": e.ID, "name": title, "format": "CSV", "size": size, "hash": "", "state": "active",
		"last_modified": e.LastModified,
		"url":           base + "/dataset/x/resource/" + e.ID + "/download/" + path.Base(e.Path) + "?path=" + e.Path,
	}
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	if s.Requests == nil {
		s.Requests, s.links = map[string]int{}, map[string]string{}
	}
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	base := "http://" + r.Host
	switch {
	case strings.HasSuffix(r.URL.Path, "/package_search"):
		s.Requests["search"]++
		s.search(w, r, base)
	case strings.HasSuffix(r.URL.Path, "/package_show"):
		s.Requests["show"]++
		s.show(w, r, base)
	case strings.HasPrefix(r.URL.Path, "/dataset/"):
		s.Requests["download"]++
		token := rand.Text()
		s.links[token] = r.URL.Query().Get("path")
		http.Redirect(w, r, "/signed/"+token, http.StatusFound)
	case strings.HasPrefix(r.URL.Path, "/signed/"):
		s.Requests["file"]++
		s.file(w, r)
	default:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<!doctype html><title>Not found</title>")
	}
}

func reply(w http.ResponseWriter, status int, body object) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	reply(w, status, object{"success": false, "error": object{"__type": kind, "message": message}})
}

var idQuery = regexp.MustCompile(`^id:\((.*)\)$`)

func (s *Site) search(w http.ResponseWriter, r *http.Request, base string) {
	all, err := s.packages(base)
	if err != nil {
		fail(w, http.StatusInternalServerError, "Internal", err.Error())
		return
	}
	q := r.URL.Query()
	fq := q.Get("fq")
	var found []object
	for _, x := range all {
		name, id := fmt.Sprint(x["name"]), fmt.Sprint(x["id"])
		organization, _ := x["organization"].(object)
		var fits bool
		switch ids := idQuery.FindStringSubmatch(fq); {
		case ids != nil:
			fits = slices.Contains(strings.Split(ids[1], " OR "), id)
		case strings.HasPrefix(fq, "organization:"):
			wanted := strings.TrimPrefix(fq, "organization:")
			fits = organization["name"] == wanted || strings.HasPrefix(name, "hdx-hapi-")
		case strings.HasPrefix(fq, "name:") && strings.HasSuffix(fq, "*"):
			fits = strings.HasPrefix(name, strings.TrimSuffix(strings.TrimPrefix(fq, "name:"), "*"))
		}
		if fits {
			found = append(found, x)
		}
	}
	rows, _ := strconv.Atoi(q.Get("rows"))
	start, _ := strconv.Atoi(q.Get("start"))
	start = min(start, len(found))
	page := []any{}
	for _, x := range found[start:min(len(found), start+min(rows, 1000))] {
		page = append(page, x)
	}
	reply(w, http.StatusOK, object{
		"help": base + "/help", "success": true,
		"result": object{
			"count": len(found), "sort": q.Get("sort"), "facets": object{}, "search_facets": object{}, "results": page,
		},
	})
}

func (s *Site) show(w http.ResponseWriter, r *http.Request, base string) {
	all, err := s.packages(base)
	id := r.URL.Query().Get("id")
	for _, x := range all {
		if err == nil && (x["id"] == id || x["name"] == id) {
			reply(w, http.StatusOK, object{"help": base + "/help", "success": true, "result": x})
			return
		}
	}
	fail(w, http.StatusNotFound, "Not Found Error", "Not found")
}

// file serves a signed link once.
func (s *Site) file(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.URL.Path, "/signed/")
	name, ok := s.links[token]
	delete(s.links, token)
	if !ok {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<?xml version="1.0"?>`+
			`<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>`)
		return
	}
	data, changed := s.Override[name]
	if !changed {
		var err error
		if data, err = fs.ReadFile(s.Files, name); err != nil {
			http.NotFound(w, r)
			return
		}
	}
	w.Header().Set("Content-Type", "text/csv")
	version := sha256.Sum256(slices.Concat(data, []byte(s.Modified[name])))
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, version))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}
