package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// world holds the rows of every endpoint, in the order in which an unfiltered answer prints them.
type world struct {
	contract   *contract
	catalogURL string
	loadTime   time.Time
	rows       map[string][]row
	before     *world // an earlier state, to compare with
	since      string // the id of its snapshot
}

// row holds the stored value of every column of a dump under the contract's names. shown holds the
// few that print differently. A value is nil, string, int64, bool, time.Time or decimal.
type row struct {
	stored map[string]any
	shown  map[string]any
	texts  *rowTexts
}

func newRow() row { return row{map[string]any{}, map[string]any{}, new(rowTexts)} }

// rowTexts are what rows of two snapshots are compared by, made when they are first needed.
type rowTexts struct {
	once        sync.Once
	key, record string
}

// compared is a text of the values of a row's key, and one of these and all that it prints.
func (r row) compared(e *endpoint) (key, record string) {
	r.texts.once.Do(func() {
		var b strings.Builder
		r.texts.key = keyText(e.key, r)
		b.WriteString(r.texts.key)
		for _, f := range e.Fields {
			b.WriteString(valueKey(r.at(f.Name)))
		}
		r.texts.record = b.String()
	})
	return r.texts.key, r.texts.record
}

// decimal is a number that is stored exactly, with the float that it prints as.
type decimal struct {
	text  string
	float float64
	exact *big.Rat
}

func newDecimal(text string) (decimal, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return decimal{}, err
	}
	return decimal{text, v, exactOf(text)}, nil
}

// at is the value that a record prints.
func (r row) at(name string) any {
	if v, ok := r.shown[name]; ok {
		return v
	}
	return r.stored[name]
}

const pathPrefix = "/api/v2/"

// lastPart names the endpoint's dump and its data-availability entry.
func lastPart(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func dumpOf(path string) string {
	switch part := lastPart(path); part {
	case "agency-commodity":
		return "wfp_commodity_view"
	case "agency-market":
		return "wfp_market_view"
	case "baseline-population":
		return "population_view"
	case "conflict-events":
		return "conflict_event_view"
	case "food-prices-market-monitor":
		return "food_price_view"
	case "refugees-persons-of-concern":
		return "refugees_view"
	default:
		return strings.ReplaceAll(part, "-", "_") + "_view"
	}
}

// contractNames are the contract's names of columns that dumps call otherwise, first by the last
// part of a path, then of all endpoints.
var contractNames = map[string]map[string]string{
	"dataset": {
		"hdx_id": "dataset_catalog_id", "hdx_stub": "dataset_catalog_stub", "title": "dataset_catalog_title",
		"hdx_provider_stub": "catalog_provider_stub", "hdx_provider_name": "catalog_provider_name",
	},
	"resource": {
		"hdx_id": "resource_catalog_id", "dataset_hdx_id": "dataset_catalog_id",
		"dataset_hdx_stub": "dataset_catalog_stub",
		"dataset_title":    "dataset_catalog_title", "dataset_hdx_provider_stub": "dataset_catalog_provider_stub",
		"dataset_hdx_provider_name": "dataset_catalog_provider_name",
	},
	"": {
		"hapi_updated_date": "api_updated_date", "resource_hdx_id": "resource_catalog_id",
		"ipc_phase": "classification_phase", "ipc_type": "classification_type",
	},
}

func contractName(path, column string) string {
	return cmp.Or(contractNames[lastPart(path)][column], contractNames[""][column], column)
}

// readWorld reads a directory of view dumps. If catalogURL or loadTime is zero, it comes from the
// catalog.json beside the dumps; without that file, links lead to the public catalog.
func readWorld(c *contract, dir, catalogURL string, loadTime time.Time) (*world, error) {
	w := &world{contract: c, catalogURL: catalogURL, loadTime: loadTime, rows: map[string][]row{}}
	if err := w.readBeside(dir); err != nil {
		return nil, err
	}
	w.catalogURL = strings.TrimSuffix(w.catalogURL, "/")
	for _, e := range c.Paths {
		cells, err := readDump(dir, dumpOf(e.Path))
		if err != nil {
			return nil, err
		}
		for i, raw := range cells {
			r, err := w.typed(e, raw)
			if err != nil {
				return nil, fmt.Errorf("%s: row %d: %w", dumpOf(e.Path), i+1, err)
			}
			if hidden(e, r) {
				continue
			}
			w.rows[e.Path] = append(w.rows[e.Path], r)
		}
	}
	available := pathPrefix + "metadata/data-availability"
	if w.rows[available] == nil { // else a dump has it
		w.rows[available] = w.availability(c.byPath[available])
	}
	for _, e := range c.Paths {
		w.sort(e)
	}
	return w, nil
}

func (w *world) readBeside(dir string) error {
	var beside struct {
		CatalogURL string    `json:"catalog_url"`
		Time       time.Time `json:"snapshot_time"`
	}
	if text, err := os.ReadFile(filepath.Join(dir, "catalog.json")); err == nil {
		if err := json.Unmarshal(text, &beside); err != nil {
			return fmt.Errorf("catalog.json: %w", err)
		}
	}
	w.catalogURL = cmp.Or(w.catalogURL, beside.CatalogURL, "https://data.humdata.org")
	if w.loadTime.IsZero() {
		w.loadTime = beside.Time.UTC()
	}
	return nil
}

// hidden reports whether a row is never served: placeholder units in the two admin lists, and
// places without a start, which no record may have.
func hidden(e *endpoint, r row) bool {
	switch lastPart(e.Path) {
	case "admin1", "admin2":
		return r.stored["is_unspecified"] == true || r.stored["reference_period_start"] == nil
	case "location":
		return r.stored["reference_period_start"] == nil
	}
	return false
}

func (e *endpoint) field(name string) *field {
	for _, f := range e.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// typed parses every cell: by its field if a record prints it, else by the column's name.
func (w *world) typed(e *endpoint, raw map[string]string) (row, error) {
	r := newRow()
	for column, text := range raw {
		name := contractName(e.Path, column)
		v, err := typedCell(e, name, text)
		if err != nil {
			return row{}, fmt.Errorf("column %s: %w", column, err)
		}
		r.stored[name] = v
	}
	if e.field("admin_level") != nil {
		place(e, r)
	}
	for _, f := range e.Fields {
		switch {
		case strings.HasPrefix(f.Note, "{catalog_url}"):
			r.stored[f.Name] = w.link(f.Note, r)
		case f.Format == "uri":
			r.shown[f.Name] = normalURI(r.stored[f.Name].(string))
		}
	}
	return r, nil
}

func typedCell(e *endpoint, name, text string) (any, error) {
	f := e.field(name)
	kind := kindOf(f, name)
	neverNull := strings.HasPrefix(name, "provider_admin") || strings.HasPrefix(name, "admin1_") ||
		strings.HasPrefix(name, "admin2_")
	if text == "" {
		if kind == "text" && (neverNull || f == nil || !f.Nullable) {
			return "", nil
		}
		return nil, nil
	}
	switch kind {
	case "int":
		whole, fraction, _ := strings.Cut(text, ".")
		if strings.Trim(fraction, "0") != "" {
			return nil, fmt.Errorf("%q is not an integer", text)
		}
		return strconv.ParseInt(whole, 10, 64)
	case "dec":
		return newDecimal(text)
	case "bool":
		return strconv.ParseBool(text)
	case "time":
		return timestamp(text)
	}
	return text, nil
}

func timestamp(text string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a timestamp", text)
}

// unprintedKinds are the kinds of columns that no record prints, by the end of their names.
var unprintedKinds = []struct{ suffix, kind string }{
	{"_ref", "int"},
	{"admin_level", "int"},
	{"has_hrp", "bool"},
	{"in_gho", "bool"},
	{"is_unspecified", "bool"},
	{"from_cods", "bool"},
}

// kindOf is the kind of a column: of its field if a record prints it, else by its name.
func kindOf(f *field, name string) string {
	switch {
	case f == nil && name == "id":
		return "int"
	case f == nil && strings.HasPrefix(name, "reference_period_"):
		return "time"
	case f == nil:
		for _, c := range unprintedKinds {
			if strings.HasSuffix(name, c.suffix) {
				return c.kind
			}
		}
		return "text"
	case f.Number == "int":
		return "int"
	case f.Number == "decimal":
		return "dec"
	case f.JSONType == "boolean":
		return "bool"
	case f.Format == "date-time":
		return "time"
	}
	return "text"
}

// sort puts an endpoint's rows into the contract's order. Rows with equal keys stay in load order.
func (w *world) sort(e *endpoint) {
	slices.SortStableFunc(w.rows[e.Path], func(a, b row) int {
		for _, k := range slices.Concat(e.Order, e.Tie) {
			column := strings.TrimSuffix(k.Column, "_stored")
			var f *field // orders an enumeration
			if k.SortAs == "enum" {
				f = e.field(k.Column)
			}
			if c := compareValues(f, a.stored[column], b.stored[column]); c != 0 {
				return c
			}
		}
		return 0
	})
}
