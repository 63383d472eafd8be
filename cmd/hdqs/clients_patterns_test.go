package main_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/testkit"
)

// clientPattern is a request that a public client sends, and what it reads from the answer.
// testdata/clients/patterns.txt explains the parts.
type clientPattern struct {
	client, purpose  string
	path, query      string
	contractPath     string
	identifier       string
	header           []string // names and values in turn
	untilShort, none bool
	reads, lost      []string // reads has "name type"
	earlier          string
	first            map[string]any
	sent             url.Values
	limit, from      int
}

// TestClientsPatterns sends what public clients send: in HAPI names below /hapi, and to the
// interface with the contract's names in both names. The rows and the totals are compared with
// those that the test selects, by its own rules, from all rows of the endpoint.
func TestClientsPatterns(t *testing.T) {
	parallel(t)
	s := serve(t, "--store", storeOfScale(t, 0.005))
	patterns := readPatterns(t)
	clients := map[string]bool{}
	whole := &wholeLists{server: s, rows: map[string][]map[string]any{}}
	for _, way := range []patternWay{
		{"below hapi", contract.HAPIPrefix, contract.HAPINames, contract.HAPINames},
		{"HAPI names sent", "", contract.HAPINames, contract.ContractNames},
		{"contract names", "", contract.ContractNames, contract.ContractNames},
	} {
		t.Run(way.name, func(t *testing.T) {
			first := map[string]map[string]any{}
			for _, p := range patterns {
				clients[p.client] = true
				if first[p.client] == nil {
					first[p.client] = map[string]any{}
				}
				p.first = first[p.client]
				way.check(t, whole, &p)
			}
		})
	}
	if len(clients) != 6 {
		t.Errorf("%d clients in the file, want 6", len(clients))
	}
}

// patternWay is a way to send a pattern: below a prefix, with the names that are sent, and those of
// the answer.
type patternWay struct {
	name, prefix   string
	sends, answers contract.NameSet
}

// readPatterns reads testdata/clients/patterns.txt.
func readPatterns(t *testing.T) []clientPattern {
	t.Helper()
	text := string(testkit.ReadFile(t, filepath.Join("testdata", "clients", "patterns.txt")))
	_, text, _ = strings.Cut(text, "\n\n")
	var patterns []clientPattern
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(block, "\n")
		p := clientPattern{identifier: "query"}
		p.client, p.purpose, _ = strings.Cut(lines[0], ": ")
		p.path, p.query, _ = strings.Cut(strings.TrimPrefix(lines[1], "GET "), "?")
		p.contractPath = strings.Replace(p.path, "/api/v1/", "/api/v2/", 1)
		for _, line := range lines[2:] {
			word, rest, _ := strings.Cut(line, " ")
			switch word {
			case "as":
				p.contractPath = rest
			case "identifier":
				p.identifier = rest
			case "header":
				name, value, _ := strings.Cut(rest, " ")
				p.header = append(p.header, name, value)
			case "until":
				p.untilShort = true
			case "none":
				p.none = true
			case "reads":
				p.reads = strings.Split(rest, ", ")
			case "lost":
				p.lost = strings.Split(rest, ", ")
			case "earlier":
				p.earlier = rest
			default:
				t.Fatalf("%s: %q", lines[0], line)
			}
		}
		patterns = append(patterns, p)
	}
	return patterns
}

var placeholder = regexp.MustCompile(`\{(\w+)\}`)

// fill replaces placeholders by fields of earlier answers, and reads the query.
func (p *clientPattern) fill(t *testing.T) {
	t.Helper()
	filled := placeholder.ReplaceAllStringFunc(p.query, func(name string) string {
		value, found := p.first[strings.Trim(name, "{}")].(string)
		if !found {
			t.Fatalf("%s: %s: no earlier answer has %s", p.client, p.purpose, name)
		}
		return url.QueryEscape(value)
	})
	var err error
	if p.sent, err = url.ParseQuery(filled); err != nil {
		t.Fatal(err)
	}
	p.limit, p.from = 10000, 0
	for name, number := range map[string]*int{"limit": &p.limit, "offset": &p.from} {
		if value := p.sent.Get(name); value != "" {
			if *number, err = strconv.Atoi(value); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// check sends a pattern and compares the answers.
func (w *patternWay) check(t *testing.T, whole *wholeLists, p *clientPattern) {
	t.Helper()
	p.fill(t)
	what := p.client + ": " + p.purpose
	if len(p.lost) > 0 && w.answers == contract.HAPINames {
		a := w.send(t, whole.server, p, p.from)
		for _, name := range p.lost {
			if a.status != 422 || !bytes.Contains(a.body, []byte("version 2 has no filter "+name)) {
				t.Errorf("%s: %d %s, want a 422 that says what to use instead of %s", what, a.status, a.body, name)
			}
		}
		return
	}
	want := whole.selected(t, p, w.answers == contract.HAPINames)
	unknown := slices.Clone(p.lost)
	if p.earlier != "" && w.answers != contract.HAPINames {
		unknown = append(unknown, p.earlier)
	}
	if p.none != (len(want) == 0) {
		t.Errorf("%s: the test selects %d rows", what, len(want))
	}
	for from := p.from; ; from += p.limit {
		a := w.send(t, whole.server, p, from)
		if a.status != 200 {
			t.Fatalf("%s: %d %s", what, a.status, a.body)
		}
		if total := a.header.Get("X-Total-Count"); total != strconv.Itoa(len(want)) {
			t.Errorf("%s: X-Total-Count %s, want %d", what, total, len(want))
		}
		if got := a.header.Get("X-Unknown-Params"); got != strings.Join(unknown, ", ") {
			t.Errorf("%s: X-Unknown-Params %q, want %q", what, got, strings.Join(unknown, ", "))
		}
		rows := w.rowsOf(t, p, a.body)
		page := want[min(from, len(want)):min(from+p.limit, len(want))]
		w.compare(t, what, p, rows, page)
		if !p.untilShort || len(rows) < p.limit {
			break
		}
	}
}

// send sends a pattern for the page from an offset.
func (w *patternWay) send(t *testing.T, s *server, p *clientPattern, from int) answer {
	t.Helper()
	query := url.Values{}
	for name, values := range p.sent {
		query[w.sends.Name(name)] = values
	}
	if query.Has("offset") {
		query.Set("offset", strconv.Itoa(from))
	}
	fields := slices.Clone(p.header)
	if p.identifier != "header" {
		query.Set("app_identifier", identifier)
	}
	if p.identifier != "query" {
		fields = append(fields, w.sends.IdentifierHeader(), identifier)
	}
	path := p.contractPath
	if w.answers == contract.HAPINames {
		path = w.prefix + p.path
	}
	return ask(t, "GET", s.base+path+"?"+query.Encode(), fields...)
}

// rowsOf reads the rows of a body. Those of CSV are texts.
func (w *patternWay) rowsOf(t *testing.T, p *clientPattern, body []byte) []map[string]any {
	t.Helper()
	if p.sent.Get("output_format") != "csv" {
		return jsonRows(t, body)
	}
	records, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
	if err != nil || len(records) == 0 && w.answers != contract.HAPINames {
		t.Fatalf("%s: CSV: %v, %d lines", p.client, err, len(records))
	}
	if len(records) == 0 {
		return nil
	}
	rows := make([]map[string]any, 0, len(records)-1)
	for _, record := range records[1:] {
		row := map[string]any{}
		for i, name := range records[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func jsonRows(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var list struct{ Data []map[string]any }
	if err := decoder.Decode(&list); err != nil {
		t.Fatalf("%v in %.200s", err, body)
	}
	return list.Data
}

// compare compares the rows of a page with those selected, and checks the fields that the client
// reads.
func (w *patternWay) compare(t *testing.T, what string, p *clientPattern, got, want []map[string]any) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
		return
	}
	asCSV := p.sent.Get("output_format") == "csv"
	for i, row := range got {
		wanted := map[string]any{}
		for name, value := range want[i] {
			if asCSV {
				value = csvText(name, value)
			}
			wanted[w.answers.Name(name)] = value
		}
		if asCSV { // which has more columns in HAPI names
			for _, extra := range []string{"provider_admin1_name", "provider_admin2_name"} {
				if value, has := row[extra]; has && w.answers == contract.HAPINames {
					wanted[extra] = value
				}
			}
		}
		if !reflect.DeepEqual(row, wanted) {
			t.Errorf("%s: row %d is %v, want %v", what, i, row, wanted)
			return
		}
		for _, field := range p.reads {
			name, kind, _ := strings.Cut(field, " ")
			name = w.answers.Name(name)
			if value, has := row[name]; !has || !isOfKind(value, kind, asCSV) {
				t.Errorf("%s: row %d: %s is %v (%T), want %s", what, i, name, value, value, kind)
				return
			}
		}
	}
	if len(got) > 0 {
		for name, value := range got[0] {
			if value != nil && value != "" {
				p.first[contract.HAPINames.Name(name)] = value
			}
		}
	}
}

// csvText is the text in CSV of a value in JSON.
func csvText(name string, value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "True"
		}
		return "False"
	case string:
		if strings.HasSuffix(name, "_date") || strings.HasPrefix(name, "reference_period_") {
			return strings.Replace(v, "T", " ", 1)
		}
		return v
	}
	return fmt.Sprint(value)
}

// isOfKind reports whether a value is of a kind of the patterns.
func isOfKind(value any, kind string, asCSV bool) bool {
	kind, optional := strings.CutSuffix(kind, "?")
	if value == nil || asCSV && value == "" && kind != "text" {
		return optional
	}
	text, isText := value.(string)
	number, isNumber := value.(json.Number)
	if asCSV {
		number, isNumber = json.Number(text), isText
	}
	switch kind {
	case "text":
		return isText
	case "whole":
		_, err := number.Int64()
		return isNumber && err == nil
	case "number":
		_, err := number.Float64()
		return isNumber && err == nil
	case "flag":
		_, isFlag := value.(bool)
		return isFlag || asCSV && (text == "True" || text == "False")
	case "time":
		_, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1))
		return isText && err == nil
	}
	return false
}

// wholeLists are all rows of endpoints, read once each without any filter, by the contract's paths.
type wholeLists struct {
	server *server
	rows   map[string][]map[string]any
}

// of reads all rows of an endpoint page by page.
func (l *wholeLists) of(t *testing.T, path string) []map[string]any {
	t.Helper()
	if rows, known := l.rows[path]; known {
		return rows
	}
	rows := []map[string]any{}
	for {
		a := ask(t, "GET", l.server.base+with(path+"?offset="+strconv.Itoa(len(rows))))
		page := jsonRows(t, a.body)
		rows = append(rows, page...)
		if len(page) == 0 {
			break
		}
	}
	l.rows[path] = rows
	return rows
}

// selected are the rows that the contract's rules select for a pattern, with the filter of version
// 1 or without.
func (l *wholeLists) selected(t *testing.T, p *clientPattern, earlier bool) []map[string]any {
	t.Helper()
	var selected []map[string]any
	var provided []string
	if p.earlier != "" && earlier {
		provided = l.provided(t, p)
	}
	for i, row := range l.of(t, p.contractPath) {
		keep := provided == nil || holds(provided[i], p.sent.Get(p.earlier))
		for name, values := range p.sent {
			name = contract.ContractNames.Name(name)
			if keep && name != p.earlier && !slices.Contains(p.lost, name) {
				keep = l.keeps(t, p, row, name, values[0])
			}
		}
		if keep {
			selected = append(selected, row)
		}
	}
	return selected
}

// provided is the column of a pattern's filter of version 1, which only CSV in HAPI names shows.
func (l *wholeLists) provided(t *testing.T, p *clientPattern) []string {
	t.Helper()
	a := ask(t, "GET", l.server.base+with(contract.HAPIPrefix+p.contractPath+"?output_format=csv"))
	lines, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	if err != nil || len(lines)-1 != len(l.of(t, p.contractPath)) {
		t.Fatalf("%s: %v, %d lines", p.contractPath, err, len(lines))
	}
	column := slices.Index(lines[0], p.earlier)
	var all []string
	for _, line := range lines[1:] {
		all = append(all, line[column])
	}
	return all
}

// keeps reports whether a row passes one parameter.
func (l *wholeLists) keeps(t *testing.T, p *clientPattern, row map[string]any, name, value string) bool {
	t.Helper()
	is, _ := row[name].(string)
	dataList := !strings.HasPrefix(p.contractPath, "/api/v2/metadata/")
	switch name {
	case "limit", "offset", "output_format":
		return true
	case "start_date": // a day
		end, has := row["reference_period_end"].(string)
		return !has || end >= value+"T00:00:00"
	case "end_date": // a day
		start, _ := row["reference_period_start"].(string)
		return start <= value+"T23:59:59"
	case "admin_level":
		return row[name] == json.Number(value)
	case "has_hrp", "in_gho":
		return fmt.Sprint(row[name]) == value
	case "name", "sector_name", "admin1_name":
		return holds(is, value)
	case "sector_code":
		if dataList {
			return holds(is, value)
		}
		return strings.EqualFold(is, value)
	case "code", "location_code", "admin1_code", "origin_location_code", "asylum_location_code", "subcategory":
		return row[name] != nil && strings.EqualFold(is, value)
	case "classification_phase", "classification_type", "population_status", "dataset_catalog_id",
		"resource_catalog_id":
		return is == value
	}
	t.Fatalf("%s: the test has no rule for %s", p.client, name)
	return false
}

// holds reports whether a text contains another, whatever their case.
func holds(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
