package apitest

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/api"
	"hdqs/api/state"
	"hdqs/bulk"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// StoreSnapshot writes tables to a store and opens the snapshot.
func StoreSnapshot(tb testing.TB, id string, at time.Time, tables []*Table) *store.Snapshot {
	tb.Helper()
	dir := tb.TempDir()
	WriteSnapshot(tb, dir, id, at, tables)
	return OpenSnapshot(tb, dir, id)
}

// WriteSnapshot writes tables to a new store. All stores of the tests share one directory of
// segments. Segments are named by their content, and most tables are in many stores.
func WriteSnapshot(tb testing.TB, dir, id string, at time.Time, tables []*Table) {
	tb.Helper()
	if sampleStores.root == "" { // the link below would lead to itself, in the folder of the package
		tb.Fatal("no TestMain of this package calls apitest.Main")
	}
	testkit.Must(tb, os.MkdirAll(dir, 0o755))
	testkit.Must(tb, os.Symlink(filepath.Join(sampleStores.root, "segments"), filepath.Join(dir, "segments")))
	st := testkit.Value(store.Open(dir))(tb)
	PutSnapshot(tb, st, id, at, tables)
}

// PutSnapshot adds a snapshot to a store.
func PutSnapshot(tb testing.TB, st *store.Store, id string, at time.Time, tables []*Table) {
	tb.Helper()
	manifest := &store.Manifest{
		Format: store.ManifestFormat, ID: id, SnapshotTime: at, CatalogURL: "https://catalog.example",
		Datasets: []store.Dataset{SampleDataset},
	}
	for _, t := range tables {
		ref := testkit.Value(st.Segments.PutSegment(t.data(tb)))(tb)
		manifest.Tables = append(manifest.Tables, ref)
		source := store.TableSource{Table: ref.Table, Updated: SampleUpdated, Datasets: []string{SampleDataset.ID}}
		if ref.Table == StaleTable {
			source.StaleSince, source.StaleWhy = SampleStale, "it has no column name"
		}
		manifest.Sources = append(manifest.Sources, source)
	}
	testkit.Must(tb, st.Snapshots.PutManifest(manifest))
}

// OpenSnapshot opens a snapshot of a store.
func OpenSnapshot(tb testing.TB, dir, id string) *store.Snapshot {
	tb.Helper()
	st := testkit.Value(store.Open(dir))(tb)
	return testkit.Value(st.Snapshots.Open(id))(tb)
}

// sampleStores holds stores that tests share by name, written when first needed.
var sampleStores struct {
	sync.Mutex
	root string // removed by TestMain
	dirs map[string]string
}

// sharedSnapshot opens a store that tests share. Its name is a file name.
func sharedSnapshot(tb testing.TB, name string, tables func() []*Table) *store.Snapshot {
	tb.Helper()
	sampleStores.Lock()
	defer sampleStores.Unlock()
	if sampleStores.dirs[name] == "" {
		dir := filepath.Join(sampleStores.root, name)
		WriteSnapshot(tb, dir, SampleID, SampleTime, tables())
		sampleStores.dirs[name] = dir
	}
	return OpenSnapshot(tb, sampleStores.dirs[name], SampleID)
}

// SampleSnapshot opens a store of the sample tables.
func SampleSnapshot(tb testing.TB, rows int) *store.Snapshot {
	tb.Helper()
	return sharedSnapshot(tb, strconv.Itoa(rows), func() []*Table { return SampleTables(tb, rows) })
}

// SampleID is the identifier of the sample snapshot.
const SampleID = "20261120T0200Z-test"

// Times of sample snapshots: theirs, of their data, since when a table is kept, and of publication.
var (
	SampleTime    = time.Date(2026, 11, 20, 2, 0, 0, 0, time.UTC)
	SampleUpdated = time.Date(2026, 11, 17, 23, 59, 59, 0, time.UTC)
	SampleStale   = time.Date(2026, 11, 18, 1, 0, 0, 0, time.UTC)
	PublishedTime = time.Date(2024, 11, 20, 2, 10, 0, 5e8, time.UTC) // earlier than the clock of any test machine
)

// StaleTable is the table of sample snapshots that is kept from an earlier load.
const StaleTable = "org"

// SampleDataset is where the rows of all sample tables come from.
var SampleDataset = store.Dataset{
	ID: "7a1c", Name: "made-up-figures", Title: "Figures <made up> & more", Publisher: "Example Agency",
	License: "Creative Commons Attribution", LicenseURL: "https://license.example/by", Updated: SampleUpdated,
}

// TwoSnapshots returns two snapshots of one store that share all tables except the one of sectors.
func TwoSnapshots(t testing.TB, rows int) (first, second *store.Snapshot) {
	t.Helper()
	st := testkit.Value(store.Open(t.TempDir()))(t)
	tables := SampleTables(t, rows)
	PutSnapshot(t, st, "first", SampleTime, tables)
	for _, x := range tables {
		if x.Endpoint.Table == "sector" {
			x.Rows = x.Rows[:7]
		}
	}
	PutSnapshot(t, st, "second", SampleTime, tables)
	first = testkit.Value(st.Snapshots.Open("first"))(t)
	second = testkit.Value(st.Snapshots.OpenAfter("second", first))(t)
	return first, second
}

// OpenShown opens the snapshot that a channel of a store shows.
func OpenShown(tb testing.TB, dir, channel string) (*store.Snapshot, store.Pointer) {
	tb.Helper()
	s := testkit.Value(store.Open(dir))(tb)
	shown := testkit.Value(s.Channels.Channel(channel))(tb)
	snap := testkit.Value(s.Snapshots.Open(shown.ID))(tb)
	return snap, shown
}

// Files of a BulkDir.
const (
	BulkTable     = "price/location_code=AFG/part-0.parquet"
	BulkText      = "price.csv.gz"
	BulkOfNothing = "sources.csv"
)

// BulkDir is a store with bulk files, without segments.
type BulkDir struct {
	*bulk.Bulk
	Dir   string
	Files map[string][]byte // by snapshot and path
}

// NewBulkDir makes an empty folder.
func NewBulkDir(t *testing.T) *BulkDir {
	t.Helper()
	dir := t.TempDir()
	st := testkit.Value(store.Open(dir))(t)
	return &BulkDir{bulk.Open(st), dir, map[string][]byte{}}
}

// Put adds the files of a snapshot, which are random but for an empty one.
func (b *BulkDir) Put(t *testing.T, id string, r *rand.Rand) {
	t.Helper()
	make := func(path string, format bulk.Format, bytes int) bulk.File {
		data := make([]byte, bytes)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		sum := sha256.Sum256(data)
		f := bulk.File{Path: path, Format: format, Bytes: int64(bytes), SHA256: hex.EncodeToString(sum[:])}
		testkit.WriteFile(t, b.Path(&f), data)
		b.Files[id+"/"+path] = data
		return f
	}
	manifest := &bulk.Manifest{
		Format: bulk.ManifestFormat, Snapshot: id, Created: SampleTime,
		Tables: []bulk.Table{{Table: "price", Segment: strings.Repeat("0", 64), Files: []bulk.File{
			make(BulkTable, bulk.Parquet, 300_000+r.IntN(3_000_000)), make(BulkText, bulk.CSVGzip, 1+r.IntN(9000)),
		}}},
		Files: []bulk.File{make(BulkOfNothing, bulk.CSV, 0)},
	}
	data := testkit.Value(manifest.Encode())(t)
	testkit.WriteFile(t, filepath.Join(b.Dir, bulk.ManifestName(id)), data)
	b.Files[id+"/manifest.json"] = data
}

// BulkServer serves the sample and bulk files of its snapshot.
func BulkServer(t *testing.T, o state.Options) (*api.Server, *BulkDir) {
	t.Helper()
	o.Bulk = true
	s, b := Sample(t, o, 3), NewBulkDir(t)
	b.Put(t, SampleID, rand.New(rand.NewPCG(1, 17)))
	testkit.Must(t, s.Files.LookForBulk(b.Bulk))
	return s, b
}
