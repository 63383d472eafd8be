package judge

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/testdata"
)

// The real input has no view dumps. Its rows are read from a server: full pages, which other tests
// compare with the sources. What records do not print is rebuilt: codes and names of placeholder
// units by the contract's rule, the provider's names from CSV in HAPI names, and a location's flags
// from the list of locations.

// readServed reads all rows of a server's snapshot: of the current one if none is named.
func readServed(t *testing.T, base, snapshot string) *world {
	t.Helper()
	c := testkit.Value(parseContract(testdata.Contract))(t)
	client := testkit.Value(newClient(base))(t)
	w := &world{contract: c, rows: map[string][]row{}}
	for _, e := range c.Paths {
		if err := w.readPages(client, e, snapshot); err != nil {
			t.Fatalf("%s: %v", e.Path, err)
		}
	}
	flags := map[any]row{}
	for _, r := range w.rows[pathPrefix+"metadata/location"] {
		flags[r.stored["code"]] = r
	}
	for _, e := range c.Paths {
		for _, r := range w.rows[e.Path] {
			w.rebuild(e, r, flags)
		}
	}
	return w
}

const servedPage = 10000

// hapiPaths replaces paths by those that lists of places have in HAPI names.
var hapiPaths = strings.NewReplacer("/agency-market", "/wfp-market", "/climate/rainfall", "/climate/hazards-rainfall")

func (w *world) readPages(client *client, e *endpoint, snapshot string) error {
	for offset := 0; ; offset += servedPage {
		page := fmt.Sprintf("%s?limit=%d&offset=%d", e.Path, servedPage, offset)
		if snapshot != "" {
			page += "&snapshot=" + snapshot
		}
		got, err := ask(client, page)
		if err != nil {
			return err
		}
		rows, err := readRecords(e, got)
		if err != nil {
			return err
		}
		if e.field("admin_level") != nil {
			text, err := ask(client, "/hapi"+hapiPaths.Replace(page)+"&output_format=csv")
			if err == nil {
				err = readProviderNames(rows, text)
			}
			if err != nil {
				return err
			}
		}
		w.rows[e.Path] = append(w.rows[e.Path], rows...)
		if len(rows) < servedPage {
			return nil
		}
	}
}

func ask(client *client, path string) (string, error) {
	got, err := client.send(request{
		Method: "GET", Path: path, Headers: map[string]string{identifierHeader: goodOne},
	})
	if err == nil && got.Status != 200 {
		err = fmt.Errorf("status %d: %s", got.Status, clip(got.Body))
	}
	return got.Body, err
}

// readRecords reads records as rows. What is printed is what is stored, until it is rebuilt.
func readRecords(e *endpoint, body string) ([]row, error) {
	var page struct {
		Data []map[string]any `json:"data"`
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&page); err != nil {
		return nil, err
	}
	rows := make([]row, 0, len(page.Data))
	for _, record := range page.Data {
		r := newRow()
		for _, f := range e.Fields {
			v, err := printedValue(f, record[f.Name])
			if err != nil {
				return nil, fmt.Errorf("field %s: %w", f.Name, err)
			}
			r.stored[f.Name] = v
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func printedValue(f *field, v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		if f.Number == "decimal" {
			return newDecimal(v.String())
		}
		return strconv.ParseInt(v.String(), 10, 64)
	case string:
		if f.Format == "date-time" {
			return timestamp(strings.Replace(v, "T", " ", 1))
		}
	}
	return v, nil
}

// readProviderNames adds the provider's names of units, which only CSV in HAPI names has.
func readProviderNames(rows []row, text string) error {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		return err
	}
	if len(lines) != len(rows)+1 {
		return fmt.Errorf("%d lines of CSV for %d records", len(lines), len(rows))
	}
	for column, name := range lines[0] {
		if strings.HasPrefix(name, "provider_") && strings.HasSuffix(name, "_name") {
			for i, r := range rows {
				r.stored[name] = lines[i+1][column]
			}
		}
	}
	return nil
}

// withoutUnits are the lists that have only countries: availability has no units of them.
var withoutUnits = []string{"funding", "national-risk", "refugees-persons-of-concern", "returnees"}

// rebuild sets what a row has besides its record.
func (w *world) rebuild(e *endpoint, r row, flags map[any]row) {
	for _, prefix := range []string{"", "origin_", "asylum_"} {
		if country, known := flags[r.stored[prefix+"location_code"]]; known && lastPart(e.Path) != "location" {
			r.stored[prefix+"has_hrp"] = country.stored["has_hrp"]
			r.stored[prefix+"in_gho"] = country.stored["in_gho"]
		}
	}
	if e.field("admin_level") == nil {
		return
	}
	above, _ := r.stored["location_code"].(string)
	subcategory, _ := r.stored["subcategory"].(string)
	for n, unit := range []string{"admin1", "admin2"} {
		if e.field(unit+"_code") == nil {
			continue
		}
		code, name := unit+"_code", unit+"_name"
		r.shown[code], r.shown[name] = r.stored[code], r.stored[name]
		switch {
		case slices.Contains(withoutUnits, subcategory), subcategory == "poverty-rate" && n == 1:
			r.stored[code], r.stored[name] = "", ""
			continue
		case r.stored[code] == nil:
			r.stored[code] = above + "-XXX"
		}
		if strings.HasSuffix(r.stored[code].(string), "-XXX") {
			r.stored[name] = "UNSPECIFIED"
		}
		above = r.stored[code].(string)
	}
}
