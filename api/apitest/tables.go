package apitest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// ChangedTables returns the sample tables, and the same with rows removed, added and changed, each
// of the three with one row in oneIn.
func ChangedTables(t *testing.T, r *rand.Rand, rows, oneIn int) (before, after []*Table) {
	before = SampleTables(t, rows)
	for _, old := range before {
		table := &Table{Endpoint: old.Endpoint, Columns: old.Columns}
		others := SampleTable(old.Endpoint, max(rows/8, 1), r).Rows
		for _, row := range old.Rows {
			row = maps.Clone(row)
			switch r.IntN(oneIn) {
			case 0:
				continue
			case 1:
				if len(others) > 0 {
					table.Rows, others = append(table.Rows, others[0]), others[1:]
				}
			case 2:
				f := old.Endpoint.Fields[r.IntN(len(old.Endpoint.Fields))].Name
				row[f] = old.Rows[r.IntN(len(old.Rows))][f]
			}
			table.Rows = append(table.Rows, row)
		}
		after = append(after, table)
	}
	return before, after
}

// Table is a table of a test snapshot. The values of its rows are string, int64 (integers),
// bool, time.Time, decimal, or nil.
type Table struct {
	Endpoint *contract.Endpoint
	Columns  []Column
	Rows     []map[string]any
}

// Column is a column of a Table.
type Column struct {
	Name     string
	Kind     snapshot.Kind
	Enum     *contract.Enum
	Nullable bool
}

// Decimal is an exact decimal number as text.
type Decimal string

// ColumnsOf derives the columns that an endpoint needs from its fields, filters, key and order.
func ColumnsOf(e *contract.Endpoint) []Column {
	var columns []Column
	known := map[string]bool{}
	add := func(c Column) {
		if !known[c.Name] {
			known[c.Name] = true
			columns = append(columns, c)
		}
	}
	for _, f := range e.Fields {
		add(Column{Name: f.Name, Kind: state.KindsOf[f.Type][0], Enum: f.Enum, Nullable: f.Nullable})
	}
	for _, p := range e.Filters() {
		for _, name := range p.Columns {
			add(Column{Name: name, Kind: state.KindsOf[p.Type][0], Enum: p.Enum})
		}
	}
	for _, name := range slices.Concat(e.Key, e.Order) {
		kind := snapshot.Text
		if strings.HasSuffix(name, "_ref") {
			kind = snapshot.Int
		}
		add(Column{Name: name, Kind: kind})
	}
	return columns
}

var sampleTexts = []string{
	"AFG", "afg", "MLI", "SOM", "AFG-XXX", "Mali", "Somalia", "Côte d'Ivoire", "CÔTE D'IVOIRE", "UNSPECIFIED", "a_b",
	"axb", "50%", "back\\slash",
	`say "hi", twice`, "two\nlines", "Éthiopie", "0-4", "80+", "x",
}

// SampleTable makes random rows with every enum value, nulls where they are allowed, and texts that
// are difficult for matching and quoting.
func SampleTable(e *contract.Endpoint, rows int, random *rand.Rand) *Table {
	t := &Table{Endpoint: e, Columns: ColumnsOf(e)}
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range rows {
		row := map[string]any{}
		for _, c := range t.Columns {
			if c.Nullable && random.IntN(4) == 0 {
				row[c.Name] = nil
				continue
			}
			switch c.Kind {
			case snapshot.Text:
				row[c.Name] = sampleTexts[random.IntN(len(sampleTexts))]
				if c.Name == "provider_admin1_name" || c.Name == "provider_admin2_name" {
					row[c.Name] = []string{"", "Kabul", "kabul city", "Mali"}[random.IntN(4)]
				}
			case snapshot.Enum:
				row[c.Name] = c.Enum.Values[i%len(c.Enum.Values)]
			case snapshot.Int:
				row[c.Name] = int64(random.IntN(12))
				if c.Name == "admin_level" {
					row[c.Name] = int64(random.IntN(3))
				}
			case snapshot.Decimal:
				row[c.Name] = []Decimal{"0.5", "0", "-3.25", "7", "12.5", "100", "0.1", "9.99"}[random.IntN(8)]
			case snapshot.Bool:
				row[c.Name] = random.IntN(2) == 0
			case snapshot.Time:
				row[c.Name] = day.AddDate(0, random.IntN(8)-4,
					random.IntN(3)).Add(time.Duration(random.IntN(2)) * 1500 * time.Millisecond)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// data converts the table for the snapshot writer: place columns become a tuple dictionary, the
// others are stored by row.
func (t *Table) data(tb testing.TB) *snapshot.TableData {
	data := &snapshot.TableData{Name: t.Endpoint.Table, Rows: len(t.Rows)}
	place := snapshot.GroupData{Name: "place", Codes: make([]uint32, len(t.Rows))}
	var tuples []map[string]any
	var placeColumns []Column
	for _, c := range t.Columns {
		if strings.Contains(c.Name, "admin") || strings.HasPrefix(c.Name, "location_") {
			placeColumns = append(placeColumns, c)
		} else {
			data.Columns = append(data.Columns, columnData(tb, c, t.Rows, c.Kind != snapshot.Decimal))
		}
	}
	if placeColumns == nil {
		return data
	}
	numbers := map[string]uint32{}
	for i, row := range t.Rows {
		var key strings.Builder
		for _, c := range placeColumns {
			fmt.Fprintf(&key, "%v|", row[c.Name])
		}
		if _, known := numbers[key.String()]; !known {
			numbers[key.String()] = uint32(len(tuples))
			tuples = append(tuples, row)
		}
		place.Codes[i] = numbers[key.String()]
	}
	place.Tuples = len(tuples)
	for _, c := range placeColumns {
		place.Columns = append(place.Columns, columnData(tb, c, tuples, false))
	}
	data.Groups = append(data.Groups, place)
	return data
}

func columnData(tb testing.TB, c Column, rows []map[string]any, index bool) snapshot.ColumnData {
	d := snapshot.ColumnData{Name: c.Name, Kind: c.Kind, Index: index}
	codes := map[string]uint32{}
	if c.Kind == snapshot.Enum {
		for i, v := range c.Enum.Values {
			codes[v] = uint32(i)
		}
		d.Values = c.Enum.Values
	}
	for _, row := range rows {
		switch v := row[c.Name].(type) {
		case nil:
			switch c.Kind {
			case snapshot.Text, snapshot.Enum:
				d.Codes = append(d.Codes, snapshot.NullCode)
			case snapshot.Decimal:
				d.Decimals = append(d.Decimals, snapshot.Dec{Scale: snapshot.DecNull})
			default:
				d.Ints = append(d.Ints, snapshot.NullInt)
			}
		case string:
			code, known := codes[v]
			if !known {
				code = uint32(len(d.Values))
				codes[v] = code
				d.Values = append(d.Values, v)
			}
			d.Codes = append(d.Codes, code)
		case int64:
			d.Ints = append(d.Ints, v)
		case bool:
			d.Ints = append(d.Ints, boolInt(v))
		case time.Time:
			d.Ints = append(d.Ints, v.UnixMicro())
		case Decimal:
			dec, ok := snapshot.ParseDec(string(v))
			if !ok {
				tb.Fatalf("%q is not a decimal", v)
			}
			d.Decimals = append(d.Decimals, dec)
		}
	}
	return d
}

//go:embed rows.txt
var writtenRows string

// SampleTables returns a table for every endpoint. Tables listed in rows.txt have the rows of that
// file.
func SampleTables(tb testing.TB, rows int) []*Table {
	written := readRows(tb, "rows.txt", writtenRows)
	random := rand.New(rand.NewPCG(1, 2))
	var tables []*Table
	for i := range contract.Endpoints {
		t := SampleTable(&contract.Endpoints[i], rows, random)
		if w := written[t.Endpoint.Table]; w != nil && rows == TextCaseRows {
			t.Rows = w
		}
		tables = append(tables, t)
	}
	return tables
}

// TextCaseRows is the size of the tables that text cases query; other sizes are for generated
// tests.
const TextCaseRows = 5

// readRows reads tables from text: "table NAME", then an object of JSON for each row.
func readRows(tb testing.TB, name, text string) map[string][]map[string]any {
	tb.Helper()
	tables := map[string][]map[string]any{}
	table, columns := "", []Column(nil)
	for number, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, ok := strings.CutPrefix(line, "table "); ok {
			at := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Table == name })
			table, columns = name, ColumnsOf(&contract.Endpoints[at])
			continue
		}
		var row map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			tb.Fatalf("%s:%d: %v", name, number+1, err)
		}
		for _, c := range columns {
			value, given := row[c.Name]
			switch {
			case strings.HasSuffix(c.Name, "_ref"): // no record shows these numbers
				row[c.Name] = int64(len(tables[table]))
			case !given:
				tb.Fatalf("%s:%d: no value of %s", name, number+1, c.Name)
			default:
				row[c.Name] = typedValue(tb, c, value)
			}
		}
		if len(row) != len(columns) {
			tb.Fatalf("%s:%d: %d columns, table %q has %d", name, number+1, len(row), table, len(columns))
		}
		tables[table] = append(tables[table], row)
	}
	return tables
}

// typedValue is a value of JSON as rows of tests have it.
func typedValue(tb testing.TB, c Column, value any) any {
	tb.Helper()
	switch v := value.(type) {
	case json.Number:
		if c.Kind == snapshot.Decimal {
			return Decimal(v)
		}
		return testkit.Value(v.Int64())(tb)
	case string:
		if c.Kind == snapshot.Time {
			return testkit.Value(time.Parse("2006-01-02T15:04:05.999999", v))(tb)
		}
	}
	return value
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Locations returns a table of locations whose ids are their positions, without those that
// drop selects.
func Locations(rows int, drop func(id int) bool) *Table {
	t := SampleTable(Plan("/api/v2/metadata/location").Endpoint, 0, nil)
	for id := range rows {
		if drop != nil && drop(id) {
			continue
		}
		t.Rows = append(t.Rows, map[string]any{
			"id": int64(id), "code": fmt.Sprintf("C%d", id%200), "name": "name", "has_hrp": id%2 == 0, "in_gho": true,
			"from_cods":              true,
			"reference_period_start": SampleTime, "reference_period_end": nil,
		})
	}
	return t
}

// HostileTexts are texts that would run as a script, lead elsewhere, or end the element that shows
// them, if a page showed them without care. A script sets a variable of the frame's parent.
var HostileTexts = []string{
	`<script>top.ran=1</script>`, `"><script>top.ran=2</script>`, `'><img src=x onerror=top.ran=3>`,
	`<svg onload=top.ran=4>`, `</script><script>top.ran=5</script>`, `</title><script>top.ran=6</script>`,
	`</textarea><script>top.ran=7</script>`, `</style></svg><script>top.ran=8</script>`,
	`</option></select><img src=x onerror=top.ran=9>`, `</a><a href=javascript:top.ran=10>`,
	`" autofocus onfocus="top.ran=11`, `' onmouseover='top.ran=12`, "x onerror=top.ran=13 `",
	`javascript:top.ran=14`, `JaVa` + "\t" + `ScRiPt:top.ran=15`, ` javascript:top.ran=16`,
	`javascript://%0atop.ran=17`,
	`data:text/html,<script>top.ran=18</script>`, `vbscript:top.ran=19`, `//hostile.example/x`,
	`mailto:somebody@hostile.example`, `file:///etc/passwd`, `https://hostile.example/"onclick="top.ran=20`,
	`{{top.ran=21}}`, `${top.ran=22}`, `<%= top.ran=23 %>`,
	`{{constructor.constructor('top.ran=24')()}}`,
	"line\u2028and paragraph\u2029separators", "\u202egnp.exe", "\u2067\u061cname", "\ufeffmark",
	`=HYPERLINK("javascript:top.ran=25")`, `@SUM(1)`, `+1`, `-1`, `]]><script>top.ran=26</script>`,
	`<!--`, `--><script>top.ran=27</script>`, `<![CDATA[`, `&lt;script&gt;top.ran=28&lt;/script&gt;`, `&#60;img&#62;`,
	`<base href=//hostile.example>`, `<meta http-equiv=refresh content="0;url=javascript:top.ran=29">`,
	`<iframe srcdoc="<script>top.ran=30</script>">`, `<math><mi xlink:href="javascript:top.ran=31">x</mi></math>`,
	`\u003cscript>top.ran=32</script>`, `"},{"@type":"Dataset"}]}`, `</template><img src=x onerror=top.ran=33>`,
	`</desc></text><script>top.ran=34</script>`, `<details open ontoggle=top.ran=35>`,
	`<style>@import'//hostile.example'`,
}

// Hostile serves the sample tables with hostile texts in every column of texts, and in
// everything that is known of datasets. Its other snapshot has other datasets.
func Hostile(t *testing.T) *api.Server {
	t.Helper()
	tables := SampleTables(t, len(HostileTexts))
	for n, table := range tables {
		for i, row := range table.Rows {
			for k, c := range table.Columns {
				if c.Kind == snapshot.Text && !strings.HasPrefix(c.Name, "provider_admin") {
					row[c.Name] = HostileTexts[(i+k+n)%len(HostileTexts)]
				}
			}
		}
	}
	snap := StoreSnapshot(t, "hostile", SampleTime, tables)
	m := snap.Manifest
	m.Datasets = nil
	var ids []string
	for i, text := range HostileTexts {
		at := func(k int) string { return HostileTexts[(i+k)%len(HostileTexts)] }
		d := store.Dataset{
			ID: fmt.Sprintf("%03d", i), Name: at(1), Title: text, Publisher: at(2), License: at(3), LicenseURL: at(4),
			Terms: at(5), Caveats: at(6), Updated: SampleUpdated,
		}
		m.Datasets, ids = append(m.Datasets, d), append(ids, d.ID)
	}
	for i := range m.Sources {
		m.Sources[i].Datasets = ids[i : i+20]
	}
	s := Serve(t, state.Options{BaseURL: "http://127.0.0.1"}, SampleSnapshot(t, 30))
	Swap(t, s, state.Release{Snapshot: snap, PublishedAt: PublishedTime.Add(time.Hour)})
	return s
}
