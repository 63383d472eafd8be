//go:build !race

package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
)

// feature is a GeoJSON feature as RFC 7946 wants it here; any other member is an error.
type feature struct {
	Type     string `json:"type"`
	Geometry *struct {
		Type        string        `json:"type"`
		Coordinates []json.Number `json:"coordinates"`
	} `json:"geometry"`
	Properties map[string]any `json:"properties"`
}

// readFeatures reads a FeatureCollection and returns each feature as the record it was made from.
func readFeatures(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	var all struct {
		Type     string    `json:"type"`
		Features []feature `json:"features"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	if all.Type != "FeatureCollection" || all.Features == nil {
		t.Fatalf("not a collection of features: %.300s", body)
	}
	records := make([]map[string]any, 0, len(all.Features))
	for _, f := range all.Features {
		if f.Type != "Feature" || f.Properties == nil {
			t.Fatalf("not a feature with properties: %v", f)
		}
		if f.Geometry != nil {
			if f.Geometry.Type != "Point" || len(f.Geometry.Coordinates) != 2 {
				t.Fatalf("not a point: %v", f.Geometry)
			}
			f.Properties["lon"], f.Properties["lat"] = f.Geometry.Coordinates[0], f.Geometry.Coordinates[1]
		}
		records = append(records, f.Properties)
	}
	return records
}

func readRecords(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	var all struct {
		Data []map[string]any `json:"data"`
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%v in %.300s", err, body)
	}
	return all.Data
}

// TestGeoJSON compares pages as GeoJSON with the same pages as JSON, in both sets of names and in
// every coding. Other endpoints refuse the format in the contract's words.
func TestGeoJSON(t *testing.T) {
	t.Parallel()
	s := testServer(t, state.Options{}, sampleTables(t, 300))
	withPoints, placed, unplaced := 0, 0, 0
	for set := range contract.NameSet(state.NameSets) {
		endpoints := contract.EndpointsIn(set)
		for i := range endpoints {
			e := &endpoints[i]
			for _, query := range []string{"", "limit=7&offset=20", "limit=0", someFilter(e), "limit=1&offset=299"} {
				target := e.Path + "?app_identifier=" + goodIdentifier
				if query != "" {
					target += "&" + query
				}
				if set == contract.HAPINames {
					target = "/hapi" + target
				}
				got := s.Answer("GET", target+"&output_format=geojson", nil)
				if !e.HasPoints() {
					if got.Status != 422 || !strings.Contains(string(got.Body), "Input should be 'csv' or 'json'") {
						t.Errorf("%s: %d %s", target, got.Status, got.Body)
					}
					continue
				}
				withPoints++
				plain := s.Answer("GET", target, nil)
				want := readRecords(t, plain.Body)
				for _, record := range want {
					if record["lat"] == nil || record["lon"] == nil {
						unplaced++
						delete(record, "lat")
						delete(record, "lon")
					} else {
						placed++
					}
				}
				if have := readFeatures(t, got.Body); fmt.Sprint(have) != fmt.Sprint(want) {
					t.Errorf("%s:\n got %v\nwant %v", target, have, want)
				}
				checkPointHeader(t, s, target, plain, got)
			}
		}
	}
	if withPoints != 2*2*5 || placed < 500 || unplaced < 100 {
		t.Errorf("%d answers, %d records with a place, %d without", withPoints, placed, unplaced)
	}
}

// checkPointHeader compares the header of an answer as GeoJSON with that as JSON.
func checkPointHeader(t *testing.T, s *Server, target string, plain, got Answer) {
	t.Helper()
	for _, name := range []string{"X-Total-Count", "X-Result-Count", "Cache-Control", "Vary", "X-Snapshot-Id"} {
		if a, b := fieldOf(&got, name), fieldOf(&plain, name); a != b {
			t.Errorf("%s: %s is %q, as JSON %q", target, name, a, b)
		}
	}
	if have := fieldOf(&got, "Content-Type"); have != "application/geo+json" {
		t.Errorf("%s: Content-Type %q", target, have)
	}
	if have := fieldOf(&got, "Content-Disposition"); !strings.Contains(have, `_2026-11-20.geojson"`) {
		t.Errorf("%s: Content-Disposition %q", target, have)
	}
	if fieldOf(&got, "ETag") == fieldOf(&plain, "ETag") {
		t.Errorf("%s: the tag is that of JSON", target)
	}
	want := strings.ReplaceAll(fieldOf(&plain, "Link"), "&offset", "&output_format=geojson&offset")
	if links := fieldOf(&got, "Link"); len(links) > 0 != (len(want) > 0) ||
		strings.Count(links, "output_format=geojson") != strings.Count(want, "rel=") {
		t.Errorf("%s: links %q, as JSON %q", target, links, want)
	}
	target += "&output_format=geojson"
	head := s.Answer("HEAD", target, nil)
	if a, b := fieldOf(&head, "Content-Length"), fieldOf(&got, "Content-Length"); a != b || len(head.Body) > 0 {
		t.Errorf("%s: HEAD has length %s, GET %s", target, a, b)
	}
	for _, coding := range []string{"gzip", "zstd"} {
		coded := s.Answer("GET", target, []reply.HeaderField{{Name: "Accept-Encoding", Value: coding}})
		text, err := decodeBody(fieldOf(&coded, "Content-Encoding"), coded.Body)
		if err != nil || !bytes.Equal(text, got.Body) {
			t.Errorf("%s: as %s: %v, other bytes", target, coding, err)
		}
	}
}

func fieldOf(a *Answer, name string) string {
	value, _ := a.field(name)
	return value
}

// TestGeoJSONWithoutTable checks the answer of a snapshot that lacks the table, and that the format
// is part of the canonical query.
func TestGeoJSONWithoutTable(t *testing.T) {
	t.Parallel()
	const path = "/api/v2/metadata/agency-market"
	s := testServer(t, state.Options{}, nil)
	got := s.Answer("GET", path+"?output_format=geojson&app_identifier="+goodIdentifier, nil)
	if got.Status != 200 || string(got.Body) != `{"type":"FeatureCollection","features":[]}` {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	var r contract.Request
	for _, query := range []string{
		"output_format=geojson&limit=3", "limit=03&output_format=csv&output_format=geojson",
	} {
		r.Scan(planOf(path), []byte(query))
		if err := r.Parse(); err != nil {
			t.Fatal(err)
		}
		if have := string(r.AppendCanonical(nil)); have != "limit=3&output_format=geojson" {
			t.Errorf("%s is %s", query, have)
		}
	}
}

// TestShortLines checks that a body of many short lines is not compressed.
func TestShortLines(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 200)
	got := s.Answer("GET", "/api/v2/affected-people/idps?fields=admin_level&output_format=csv&app_identifier="+
		goodIdentifier, []reply.HeaderField{{Name: "Accept-Encoding", Value: "gzip"}})
	if coding := fieldOf(&got, "Content-Encoding"); coding != "" || len(got.Body) > reply.MinEncoded ||
		bytes.Count(got.Body, []byte("\r\n")) != 201 {
		t.Errorf("%d bytes as %q", len(got.Body), coding)
	}
}
