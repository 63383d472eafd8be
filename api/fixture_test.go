package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/reply"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// testTable is a table of a test snapshot. The values of its rows are string, int64 (integers),
// bool, time.Time, decimal, or nil.
type testTable struct {
	endpoint *contract.Endpoint
	columns  []testColumn
	rows     []map[string]any
}

type testColumn struct {
	name     string
	kind     snapshot.Kind
	enum     *contract.Enum
	nullable bool
}

// decimal is an exact decimal number as text.
type decimal string

// columnsOf derives the columns that an endpoint needs from its fields, filters, key and order.
func columnsOf(e *contract.Endpoint) []testColumn {
	var columns []testColumn
	known := map[string]bool{}
	add := func(c testColumn) {
		if !known[c.name] {
			known[c.name] = true
			columns = append(columns, c)
		}
	}
	for _, f := range e.Fields {
		add(testColumn{name: f.Name, kind: state.KindsOf[f.Type][0], enum: f.Enum, nullable: f.Nullable})
	}
	for _, p := range e.Filters() {
		for _, name := range p.Columns {
			add(testColumn{name: name, kind: state.KindsOf[p.Type][0], enum: p.Enum})
		}
	}
	for _, name := range slices.Concat(e.Key, e.Order) {
		kind := snapshot.Text
		if strings.HasSuffix(name, "_ref") {
			kind = snapshot.Int
		}
		add(testColumn{name: name, kind: kind})
	}
	return columns
}

var sampleTexts = []string{
	"AFG", "afg", "MLI", "SOM", "AFG-XXX", "Mali", "Somalia", "Côte d'Ivoire", "CÔTE D'IVOIRE", "UNSPECIFIED", "a_b",
	"axb", "50%", "back\\slash",
	`say "hi", twice`, "two\nlines", "Éthiopie", "0-4", "80+", "x",
}

// sampleTable makes random rows with every enum value, nulls where they are allowed, and texts that
// are difficult for matching and quoting.
func sampleTable(e *contract.Endpoint, rows int, random *rand.Rand) *testTable {
	t := &testTable{endpoint: e, columns: columnsOf(e)}
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range rows {
		row := map[string]any{}
		for _, c := range t.columns {
			if c.nullable && random.IntN(4) == 0 {
				row[c.name] = nil
				continue
			}
			switch c.kind {
			case snapshot.Text:
				row[c.name] = sampleTexts[random.IntN(len(sampleTexts))]
				if c.name == "provider_admin1_name" || c.name == "provider_admin2_name" {
					row[c.name] = []string{"", "Kabul", "kabul city", "Mali"}[random.IntN(4)]
				}
			case snapshot.Enum:
				row[c.name] = c.enum.Values[i%len(c.enum.Values)]
			case snapshot.Int:
				row[c.name] = int64(random.IntN(12))
				if c.name == "admin_level" {
					row[c.name] = int64(random.IntN(3))
				}
			case snapshot.Decimal:
				row[c.name] = []decimal{"0.5", "0", "-3.25", "7", "12.5", "100", "0.1", "9.99"}[random.IntN(8)]
			case snapshot.Bool:
				row[c.name] = random.IntN(2) == 0
			case snapshot.Time:
				row[c.name] = day.AddDate(0, random.IntN(8)-4,
					random.IntN(3)).Add(time.Duration(random.IntN(2)) * 1500 * time.Millisecond)
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// data converts the table for the snapshot writer: place columns become a tuple dictionary, the
// others are stored by row.
func (t *testTable) data(tb testing.TB) *snapshot.TableData {
	data := &snapshot.TableData{Name: t.endpoint.Table, Rows: len(t.rows)}
	place := snapshot.GroupData{Name: "place", Codes: make([]uint32, len(t.rows))}
	var tuples []map[string]any
	var placeColumns []testColumn
	for _, c := range t.columns {
		if strings.Contains(c.name, "admin") || strings.HasPrefix(c.name, "location_") {
			placeColumns = append(placeColumns, c)
		} else {
			data.Columns = append(data.Columns, columnData(tb, c, t.rows, c.kind != snapshot.Decimal))
		}
	}
	if placeColumns == nil {
		return data
	}
	numbers := map[string]uint32{}
	for i, row := range t.rows {
		var key strings.Builder
		for _, c := range placeColumns {
			fmt.Fprintf(&key, "%v|", row[c.name])
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

func columnData(tb testing.TB, c testColumn, rows []map[string]any, index bool) snapshot.ColumnData {
	d := snapshot.ColumnData{Name: c.name, Kind: c.kind, Index: index}
	codes := map[string]uint32{}
	if c.kind == snapshot.Enum {
		for i, v := range c.enum.Values {
			codes[v] = uint32(i)
		}
		d.Values = c.enum.Values
	}
	for _, row := range rows {
		switch v := row[c.name].(type) {
		case nil:
			switch c.kind {
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
		case decimal:
			dec, ok := snapshot.ParseDec(string(v))
			if !ok {
				tb.Fatalf("%q is not a decimal", v)
			}
			d.Decimals = append(d.Decimals, dec)
		}
	}
	return d
}

// storeSnapshot writes tables to a store and opens the snapshot.
func storeSnapshot(tb testing.TB, id string, at time.Time, tables []*testTable) *store.Snapshot {
	tb.Helper()
	dir := tb.TempDir()
	writeSnapshot(tb, dir, id, at, tables)
	return openSnapshot(tb, dir, id)
}

// writeSnapshot writes tables to a new store. All stores of the tests share one directory of
// segments. Segments are named by their content, and most tables are in many stores.
func writeSnapshot(tb testing.TB, dir, id string, at time.Time, tables []*testTable) {
	tb.Helper()
	testkit.Must(tb, os.MkdirAll(dir, 0o755))
	testkit.Must(tb, os.Symlink(filepath.Join(sampleStores.root, "segments"), filepath.Join(dir, "segments")))
	st, err := store.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	putSnapshot(tb, st, id, at, tables)
}

// putSnapshot adds a snapshot to a store.
func putSnapshot(tb testing.TB, st *store.Store, id string, at time.Time, tables []*testTable) {
	tb.Helper()
	manifest := &store.Manifest{
		Format: store.ManifestFormat, ID: id, SnapshotTime: at, CatalogURL: "https://catalog.example",
		Datasets: []store.Dataset{sampleDataset},
	}
	for _, t := range tables {
		ref, err := st.Segments.PutSegment(t.data(tb))
		if err != nil {
			tb.Fatal(err)
		}
		manifest.Tables = append(manifest.Tables, ref)
		source := store.TableSource{Table: ref.Table, Updated: sampleUpdated, Datasets: []string{sampleDataset.ID}}
		if ref.Table == staleTable {
			source.StaleSince, source.StaleWhy = sampleStale, "it has no column name"
		}
		manifest.Sources = append(manifest.Sources, source)
	}
	testkit.Must(tb, st.Snapshots.PutManifest(manifest))
}

func openSnapshot(tb testing.TB, dir, id string) *store.Snapshot {
	tb.Helper()
	st, err := store.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	snap, err := st.Snapshots.Open(id)
	if err != nil {
		tb.Fatal(err)
	}
	return snap
}

// sampleStores holds stores that tests share by name, written when first needed.
var sampleStores struct {
	sync.Mutex
	root string // removed by TestMain
	dirs map[string]string
}

func TestMain(m *testing.M) {
	if target := os.Getenv(clientsTarget); target != "" {
		os.Exit(runClients(target))
	}
	flag.Parse()
	flag.Set("test.parallel", "8") // many tests wait for timers and sockets rather than a CPU
	debug.SetGCPercent(400)        // servers of tests live shortly: a tenth of the CPU time less
	var err error
	if sampleStores.root, err = os.MkdirTemp("", "hdqs-api-"); err != nil {
		panic(err)
	}
	if err := os.Mkdir(filepath.Join(sampleStores.root, "segments"), 0o755); err != nil {
		panic(err)
	}
	sampleStores.dirs = map[string]string{}
	code := m.Run()
	os.RemoveAll(sampleStores.root)
	os.Exit(code)
}

// sharedSnapshot opens a store that tests share. Its name is a file name.
func sharedSnapshot(tb testing.TB, name string, tables func() []*testTable) *store.Snapshot {
	tb.Helper()
	sampleStores.Lock()
	defer sampleStores.Unlock()
	if sampleStores.dirs[name] == "" {
		dir := filepath.Join(sampleStores.root, name)
		writeSnapshot(tb, dir, sampleID, sampleTime, tables())
		sampleStores.dirs[name] = dir
	}
	return openSnapshot(tb, sampleStores.dirs[name], sampleID)
}

// sampleSnapshot opens a store of the sample tables.
func sampleSnapshot(tb testing.TB, rows int) *store.Snapshot {
	tb.Helper()
	return sharedSnapshot(tb, strconv.Itoa(rows), func() []*testTable { return sampleTables(tb, rows) })
}

const sampleID = "20261120T0200Z-test"

// sampleTables returns a table for every endpoint. Tables listed in testdata/http/rows.txt have the
// rows of that file.
func sampleTables(tb testing.TB, rows int) []*testTable {
	written := readRows(tb, "testdata/http/rows.txt")
	random := rand.New(rand.NewPCG(1, 2))
	var tables []*testTable
	for i := range contract.Endpoints {
		t := sampleTable(&contract.Endpoints[i], rows, random)
		if w := written[t.endpoint.Table]; w != nil && rows == textCaseRows {
			t.rows = w
		}
		tables = append(tables, t)
	}
	return tables
}

// textCaseRows is the size of the tables that text cases query; other sizes are for generated
// tests.
const textCaseRows = 5

var (
	sampleTime    = time.Date(2026, 11, 20, 2, 0, 0, 0, time.UTC)
	sampleUpdated = time.Date(2026, 11, 17, 23, 59, 59, 0, time.UTC)
	sampleStale   = time.Date(2026, 11, 18, 1, 0, 0, 0, time.UTC)
	publishedTime = time.Date(2024, 11, 20, 2, 10, 0, 5e8, time.UTC) // earlier than the clock of any test machine
)

// staleTable is the table of sample snapshots that is kept from an earlier load.
const staleTable = "org"

// sampleDataset is where the rows of all sample tables come from.
var sampleDataset = store.Dataset{
	ID: "7a1c", Name: "made-up-figures", Title: "Figures <made up> & more", Publisher: "Example Agency",
	License: "Creative Commons Attribution", LicenseURL: "https://license.example/by", Updated: sampleUpdated,
}

// twoSnapshots returns two snapshots of one store that share all tables except the one of sectors.
func twoSnapshots(t testing.TB, rows int) (first, second *store.Snapshot) {
	t.Helper()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tables := sampleTables(t, rows)
	putSnapshot(t, st, "first", sampleTime, tables)
	for _, x := range tables {
		if x.endpoint.Table == "sector" {
			x.rows = x.rows[:7]
		}
	}
	putSnapshot(t, st, "second", sampleTime, tables)
	if first, err = st.Snapshots.Open("first"); err != nil {
		t.Fatal(err)
	}
	if second, err = st.Snapshots.OpenAfter("second", first); err != nil {
		t.Fatal(err)
	}
	return first, second
}

// testServer serves the given tables, for example modified sample tables.
func testServer(tb testing.TB, o state.Options, tables []*testTable) *Server {
	tb.Helper()
	return serverOf(tb, o, storeSnapshot(tb, sampleID, sampleTime, tables))
}

// sampleServer serves the sample tables.
func sampleServer(tb testing.TB, o state.Options, rows int) *Server {
	tb.Helper()
	return serverOf(tb, o, sampleSnapshot(tb, rows))
}

// tableServer serves the sample table of one endpoint.
func tableServer(tb testing.TB, o state.Options, path string, rows int) *Server {
	tb.Helper()
	e := planOf(path).Endpoint
	return serverOf(tb, o, sharedSnapshot(tb, fmt.Sprintf("%s-%d", e.Name(), rows), func() []*testTable {
		return []*testTable{sampleTable(e, rows, rand.New(rand.NewPCG(1, 2)))}
	}))
}

func serverOf(tb testing.TB, o state.Options, snap *store.Snapshot) *Server {
	tb.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	// No limit of time ends what a busy machine delays. Tests of these limits set their own.
	o.ReadTimeout, o.WriteTimeout = cmp.Or(o.ReadTimeout, testkit.Patience), cmp.Or(o.WriteTimeout, testkit.Patience)
	o.IdleTimeout, o.QueueWait = cmp.Or(o.IdleTimeout, testkit.Patience), cmp.Or(o.QueueWait, testkit.Patience)
	o.SkipWarmUp = o.MemoryLimit == 0 // which takes seconds under the race detector; its own tests need it
	s := New(o)
	mustSwap(tb, s, state.Release{Snapshot: snap, PublishedAt: publishedTime})
	tb.Cleanup(func() {
		if old := s.State.Snapshots.Current.Swap(nil); old != nil {
			old.Release(s.State.Log)
		}
		s.State.Snapshots.Retained.Close(s.State.Log)
	})
	return s
}

// newServer returns a server without a snapshot, which is shut down at the end of the test.
func newServer(t *testing.T, o state.Options) *Server {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := New(o)
	t.Cleanup(func() {
		// listen has closed its listener before.
		if err := s.Shutdown(context.Background()); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

// mustSwap serves a snapshot.
func mustSwap(tb testing.TB, s *Server, r state.Release) {
	tb.Helper()
	testkit.Must(tb, s.State.Swap(r))
}

// readRows reads tables from text: "table NAME", then an object of JSON for each row.
func readRows(tb testing.TB, name string) map[string][]map[string]any {
	tb.Helper()
	tables := map[string][]map[string]any{}
	table, columns := "", []testColumn(nil)
	for number, line := range strings.Split(string(testkit.ReadFile(tb, name)), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, ok := strings.CutPrefix(line, "table "); ok {
			at := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Table == name })
			table, columns = name, columnsOf(&contract.Endpoints[at])
			continue
		}
		var row map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			tb.Fatalf("%s:%d: %v", name, number+1, err)
		}
		for _, c := range columns {
			value, given := row[c.name]
			switch {
			case strings.HasSuffix(c.name, "_ref"): // no record shows these numbers
				row[c.name] = int64(len(tables[table]))
			case !given:
				tb.Fatalf("%s:%d: no value of %s", name, number+1, c.name)
			default:
				row[c.name] = typedValue(tb, c, value)
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
func typedValue(tb testing.TB, c testColumn, value any) any {
	tb.Helper()
	switch v := value.(type) {
	case json.Number:
		if c.kind == snapshot.Decimal {
			return decimal(v)
		}
		n, err := v.Int64()
		if err != nil {
			tb.Fatal(err)
		}
		return n
	case string:
		if c.kind == snapshot.Time {
			at, err := time.Parse("2006-01-02T15:04:05.999999", v)
			if err != nil {
				tb.Fatal(err)
			}
			return at
		}
	}
	return value
}

// trials returns the number of iterations of a property test, which is smaller under -short.
func trials(all, short int) int {
	if testing.Short() {
		return short
	}
	return all
}

func boolInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// hapiEndpoint returns an endpoint in HAPI names.
func hapiEndpoint(i int) *contract.Endpoint { return &contract.EndpointsIn(contract.HAPINames)[i] }

// browsed requests a page of records.
func browsed(s *Server, path string) Answer {
	return s.Answer("GET", path, []reply.HeaderField{{Name: "Host", Value: "data.example.org"}})
}
