package export

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"hdqs/api/encode"
	"hdqs/api/render"
	"hdqs/bulk"
	"hdqs/index"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// written collects the paths of files that were written.
func written(paths *[]string) func(*bulk.File) {
	return func(f *bulk.File) { *paths = append(*paths, f.Path) }
}

func toStore(t *testing.T, st *store.Store, snap *store.Snapshot, o Options) *bulk.Manifest {
	t.Helper()
	return testkit.Value(ToStore(t.Context(), bulk.Open(st), snap, o))(t)
}

// TestFilesHaveTheRecords compares every value of every file with the interface's JSON, and the CSV
// files with the interface's bytes.
func TestFilesHaveTheRecords(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		rows := []int{0, 1, 40, 900}[seed%4]
		st, snap := randomStore(t, t.TempDir(), seed, rows, "s1")
		m := toStore(t, st, snap, Options{PartitionRows: 100})
		b := bulk.Open(st)
		for i := range m.Tables {
			info := &m.Tables[i]
			records, lines := rendered(t, snap.Segments[info.Table], info)
			var got []map[string]any
			parts := 0
			for _, f := range info.Files {
				data := testkit.ReadFile(t, b.Path(&f))
				switch f.Format {
				case bulk.Parquet:
					parts++
					part := parquetRecords(t, data, info)
					testkit.Equal(t, len(part), f.Rows, "rows of %s", f.Path)
					checkPart(t, info, &f, part)
					got = append(got, part...)
				default:
					if text := decompress(t, data, f.Format); !bytes.Equal(text, lines) {
						t.Errorf("seed %d: %s is not what the interface sends", seed, f.Path)
					}
				}
			}
			if info.PartitionedBy != "" {
				slices.SortStableFunc(records, func(a, b map[string]any) int {
					byPlace := strings.Compare(lastIfNone(a[info.PartitionedBy]), lastIfNone(b[info.PartitionedBy]))
					if info.Table == "food_price" {
						return byPlace
					}
					return cmp.Or(byPlace, strings.Compare(lastIfNone(a[timeField]), lastIfNone(b[timeField])))
				})
			}
			placed := slices.Contains([]string{"market", "conflict_event", "food_price"}, info.Table)
			if want := rows > 100 && placed; want != (parts > 1) {
				t.Errorf("%s has %d Parquet files, partitioned by %q", info.Table, parts, info.PartitionedBy)
			}
			if len(got) != rows || len(records) != rows {
				t.Fatalf("seed %d: %s has %d rows, %d records, want %d", seed, info.Table, len(got), len(records), rows)
			}
			for k := range records {
				for _, c := range info.Schema {
					if fmt.Sprint(got[k][c.Name]) != fmt.Sprint(records[k][c.Name]) {
						t.Fatalf("seed %d: %s, row %d, %s: %v, want %v", seed, info.Table, k, c.Name, got[k][c.Name],
							records[k][c.Name])
					}
				}
			}
		}
		checkSources(t, b, m)
	}
}

// lastIfNone orders nulls and empty texts last, as the files of partitions and the times in them
// are.
func lastIfNone(v any) string {
	if v == nil || v == "" {
		return "\xff"
	}
	return v.(string)
}

// checkPart checks the bounds of a file, and that it has one value of the partition's field, that
// of its folder.
func checkPart(t *testing.T, info *bulk.Table, f *bulk.File, rows []map[string]any) {
	t.Helper()
	for _, c := range info.Schema {
		if c.Type != "timestamp" && c.Name != "code" && !strings.HasSuffix(c.Name, "_code") {
			continue
		}
		var values []string
		for _, r := range rows {
			if v := r[c.Name]; v != nil {
				values = append(values, v.(string))
			}
		}
		least, some := f.Min[c.Name]
		if some != (len(values) > 0) {
			t.Errorf("%s: least %s is %q of %d values", f.Path, c.Name, least, len(values))
		} else if some && (least != slices.Min(values) || f.Max[c.Name] != slices.Max(values)) {
			t.Errorf("%s: %s is from %q to %q, want %q to %q", f.Path, c.Name, least, f.Max[c.Name], slices.Min(values),
				slices.Max(values))
		}
	}
	if info.PartitionedBy == "" {
		return
	}
	folder := filepath.Base(filepath.Dir(f.Path))
	for _, r := range rows {
		want := info.PartitionedBy + "=__HIVE_DEFAULT_PARTITION__"
		if v := r[info.PartitionedBy]; v != nil && v != "" {
			want = info.PartitionedBy + "=" + strings.ReplaceAll(escape(v.(string)), "+", "%20")
		}
		testkit.Equal(t, folder, want, "%s has a row with %v, which belongs into", f.Path, r[info.PartitionedBy])
	}
}

func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if strings.IndexByte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(strconv.FormatInt(int64(c)+256, 16)[1:]))
		}
	}
	return b.String()
}

// rendered are the records that the interface sends, as JSON and as CSV.
func rendered(t *testing.T, seg *snapshot.Segment, info *bulk.Table) (records []map[string]any, lines []byte) {
	t.Helper()
	var fields []render.Field
	e := endpoint(info.Table)
	for _, f := range e.Fields {
		fields = append(fields, render.Field{Name: f.Name, Column: f.Column()})
	}
	r := testkit.Value(render.New(seg, fields, encode.Options{}))(t)
	var ranges []index.Range
	if seg.Rows() > 0 {
		ranges = []index.Range{{From: 0, To: uint32(seg.Rows())}}
	}
	var body struct{ Data []map[string]any }
	d := json.NewDecoder(bytes.NewReader(r.JSON().Append(nil, ranges)))
	d.UseNumber()
	testkit.Must(t, d.Decode(&body))
	for _, record := range body.Data {
		for _, c := range info.Schema {
			if n, is := record[c.Name].(json.Number); is && c.Type == "double" {
				f, _ := n.Float64()
				record[c.Name] = f
			}
		}
		if lat, ok := record["lat"].(float64); ok && e.HasPoints() {
			if lon, ok := record["lon"].(float64); ok {
				record["geometry"] = fmt.Sprint(lon, " ", lat)
			}
		}
	}
	return body.Data, r.CSV().Append(nil, ranges)
}

// parquetRecords reads a file with the library's generic reader, each value as JSON has it.
func parquetRecords(t *testing.T, data []byte, info *bulk.Table) (records []map[string]any) {
	t.Helper()
	f := testkit.Value(parquet.OpenFile(bytes.NewReader(data), int64(len(data))))(t)
	rows := parquet.NewGenericReader[any](f)
	defer rows.Close()
	space := make([]parquet.Row, 64)
	for {
		n, err := rows.ReadRows(space)
		for _, row := range space[:n] {
			record := map[string]any{}
			for i, v := range row {
				record[info.Schema[i].Name] = value(v, info.Schema[i].Type)
			}
			records = append(records, record)
		}
		if errors.Is(err, io.EOF) {
			return records
		}
		testkit.Must(t, err)
	}
}

func value(v parquet.Value, typ string) any {
	if v.IsNull() {
		return nil
	}
	switch typ {
	case "string":
		return string(v.ByteArray())
	case "boolean":
		return v.Boolean()
	case "double":
		return v.Double()
	case "timestamp":
		at := time.UnixMicro(v.Int64()).UTC()
		if at.Nanosecond() != 0 {
			return at.Format("2006-01-02T15:04:05.000000")
		}
		return at.Format("2006-01-02T15:04:05")
	case "geometry":
		b := v.ByteArray()
		x := math.Float64frombits(binary.LittleEndian.Uint64(b[5:]))
		return fmt.Sprint(x, " ", math.Float64frombits(binary.LittleEndian.Uint64(b[13:])))
	}
	return v.Int64()
}

func decompress(t *testing.T, data []byte, format bulk.Format) []byte {
	t.Helper()
	in := bytes.NewReader(data)
	var out []byte
	var err error
	if format == bulk.CSVGzip {
		z, zerr := gzip.NewReader(in)
		if zerr != nil {
			t.Fatal(zerr)
		}
		z.Multistream(false) // one member
		out, err = io.ReadAll(z)
	} else {
		z, zerr := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(8<<20))
		if zerr != nil {
			t.Fatal(zerr)
		}
		defer z.Close()
		out, err = z.DecodeAll(data, nil)
		in.Reset(nil)
		testkit.Equal(t, bytes.Count(data, []byte{0x28, 0xb5, 0x2f, 0xfd}), 1, "frames")
	}
	if err != nil || in.Len() > 0 {
		t.Fatalf("%v; %d bytes after the first member", err, in.Len())
	}
	return out
}

func checkSources(t *testing.T, b *bulk.Bulk, m *bulk.Manifest) {
	t.Helper()
	f, ok := m.Find("sources.csv")
	if !ok {
		t.Fatal("there is no sources.csv")
	}
	data := testkit.ReadFile(t, b.Path(f))
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(lines) != 1+len(m.Tables) || lines[1][3] != "Events, \"all\"" || lines[1][5] != "CC BY" {
		t.Errorf("sources.csv: %v, %v", lines, err)
	}
	for _, table := range m.Tables {
		if len(table.Sources) != 1 || table.Sources[0].License != "CC BY" {
			t.Errorf("sources of %s: %v", table.Table, table.Sources)
		}
	}
}

// TestUnchangedTablesAreTakenOver writes a second snapshot of which one table differs.
func TestUnchangedTablesAreTakenOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, first := randomStore(t, dir, 1, 300, "s1")
	o := Options{PartitionRows: 100}
	was := toStore(t, st, first, o)
	second := *first.Manifest
	second.ID = "s2"
	second.Tables = slices.Clone(second.Tables)
	ref := testkit.Value(st.Segments.PutSegment(randomTable(rand.New(rand.NewPCG(5, 5)), endpoint("org"), 20)))(t)
	second.Tables[slices.Index(tested, "org")] = ref
	testkit.Must(t, st.Snapshots.PutManifest(&second))
	snap := testkit.Value(st.Snapshots.Open("s2"))(t)
	defer snap.Close()
	var paths []string
	o.Written = written(&paths)
	m := toStore(t, st, snap, o)
	slices.Sort(paths)
	want := []string{"csv/org.csv.gz", "csv/org.csv.zst", "org/part-0.parquet", "sources.csv"}
	testkit.EqualLists(t, paths, want, "written")
	for _, name := range tested {
		same := slices.EqualFunc(m.Table(name).Files, was.Table(name).Files, func(a, b bulk.File) bool {
			return a.Path == b.Path && a.SHA256 == b.SHA256
		})
		testkit.Equal(t, same, (name != "org"), "files of %s are the same", name)
	}
	// Written in another store, from nothing, the files are the same.
	fresh := testkit.Value(store.Open(t.TempDir()))(t)
	again := toStore(t, fresh, snap, Options{PartitionRows: 100})
	a, errA := m.Encode()
	b, errB := again.Encode()
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("another store has another manifest: %v, %v\n%s\n%s", errA, errB, a, b)
	}
}

// TestOtherLayouts: what an earlier release has written for a snapshot stays as it is, since URLs
// of files never change their content. The files of the next snapshot have the present layout, even
// if the rows are the same.
func TestOtherLayouts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, snap := randomStore(t, dir, 1, 300, "s1")
	was := toStore(t, st, snap, Options{})
	b := bulk.Open(st)
	path := filepath.Join(dir, bulk.ManifestName("s1"))
	data := testkit.ReadFile(t, path)
	earlier := bytes.Replace(data, []byte(was.Table("org").Layout), []byte("0123456789abcdef"), 1)
	testkit.Must(t, os.WriteFile(path, earlier, 0o644))
	var paths []string
	toStore(t, st, snap, Options{Written: written(&paths)})
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, earlier) || len(paths) > 0 {
		t.Errorf("%v; written again: %q", err, paths)
	}
	_, next := randomStore(t, dir, 1, 300, "s2")
	m := toStore(t, st, next, Options{Written: written(&paths)})
	slices.Sort(paths)
	want := []string{"csv/org.csv.gz", "csv/org.csv.zst", "org/part-0.parquet", "sources.csv"}
	if !slices.Equal(paths, want) || m.Table("org").Layout != was.Table("org").Layout {
		t.Errorf("written for the next snapshot: %q, want %q", paths, want)
	}
	// What is damaged cannot be written as it was.
	f, _ := m.Find("market/part-0.parquet")
	testkit.Must(t, os.Remove(b.Path(f)))
	_, err := ToStore(t.Context(), b, snap, Options{})
	if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "remove it to replace") {
		t.Errorf("with a damaged file of another layout: error %v", err)
	}
}

// TestDamagedFilesAreWrittenAgain covers files that are missing, cut and changed.
func TestDamagedFilesAreWrittenAgain(t *testing.T) {
	t.Parallel()
	st, snap := randomStore(t, t.TempDir(), 2, 200, "s1")
	m := toStore(t, st, snap, Options{Formats: []bulk.Format{bulk.Parquet, bulk.CSVGzip}})
	b := bulk.Open(st)
	for path, damage := range map[string]func(string) error{
		"org/part-0.parquet":      os.Remove,
		"csv/market.csv.gz":       func(p string) error { return os.Truncate(p, 7) },
		"refugees/part-0.parquet": flipByte,
	} {
		f, _ := m.Find(path)
		testkit.Must(t, damage(b.Path(f)))
		err := b.Verify(snap.Manifest)
		if !errors.Is(err, snapshot.ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s is damaged, Verify says %v", path, err)
		}
		var paths []string
		toStore(t, st, snap, Options{Written: written(&paths)}) // with the formats that it has
		if !slices.Contains(paths, path) || !b.Has(f, true) {
			t.Errorf("%s was not written again: %q", path, paths)
		}
		testkit.Must(t, b.Verify(snap.Manifest))
	}
}

func flipByte(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[len(data)/2] ^= 1
	return os.WriteFile(path, data, 0o644)
}

// TestManifestsDoNotChange: another manifest of the same snapshot is refused.
func TestManifestsDoNotChange(t *testing.T) {
	t.Parallel()
	st, snap := randomStore(t, t.TempDir(), 3, 50, "s1")
	m := toStore(t, st, snap, Options{})
	other := *m
	other.Tables = m.Tables[:1]
	testkit.Is(t, bulk.Open(st).PutManifest(&other), fs.ErrExist, "error")
	testkit.Is(t, bulk.Open(st).PutManifest(m), nil, "the same one again")
}

// TestSignedManifests: a reader that requires signatures refuses a manifest without one, and one
// with the signature of another.
func TestSignedManifests(t *testing.T) {
	t.Parallel()
	st, snap := randomStore(t, t.TempDir(), 4, 20, "s1")
	key, keys := testkit.SigningKey(t)
	trusting := bulk.Open(st.Trusting(keys))
	m := toStore(t, st, snap, Options{})
	testkit.Fails(trusting.Manifest("s1"))(t, store.ErrSignature, "without a signature: error")
	toStore(t, st.Signing(key), snap, Options{})
	if _, err := trusting.Manifest("s1"); err != nil {
		t.Errorf("with its signature: %v", err)
	}
	data, signature, err := trusting.ManifestFile("s1")
	testkit.Must(t, err)
	if _, err := trusting.CheckManifest("s1", append(data, ' '), signature); !errors.Is(err, store.ErrSignature) {
		t.Errorf("other bytes: error %v", err)
	}
	other := *m
	other.Snapshot = "s2"
	otherData := testkit.Value(other.Encode())(t)
	testkit.Is(t, trusting.AddManifest("s2", otherData, signature), store.ErrSignature, "another snapshot: error")
}

// TestCollect removes what no snapshot of the store needs any more.
func TestCollect(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	st, first := randomStore(t, dir, 1, 100, "s1")
	toStore(t, st, first, Options{})
	_, second := randomStore(t, dir, 2, 100, "s2")
	kept := toStore(t, st, second, Options{})
	old := time.Now().Add(-48 * time.Hour)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, old, old)
	})
	testkit.Must(t, err)
	testkit.Must(t, st.Channels.Publish("stable", "s2", old))
	before := count(t, dir)
	for _, o := range []store.CollectOptions{{DryRun: true}, {Grace: 72 * time.Hour}, {}} {
		found := testkit.Value(store.Collect(t.Context(), st.Files(), o))(t)
		bulkFound := testkit.Value(bulk.Collect(t.Context(), st.Files(), found.Manifests, o))(t)
		want := 3 * len(tested)
		if o.Grace > 0 {
			want = 0
		}
		if bulkFound.Files != want || (bulkFound.Bytes > 0) != (want > 0) {
			t.Errorf("%+v: %+v, want %d files", o, bulkFound, want)
		}
		if n := count(t, dir); (n < before) != (want > 0 && !o.DryRun) {
			t.Errorf("%+v: %d files remain of %d", o, n, before)
		}
		testkit.Is(t, bulk.Open(st).Verify(second.Manifest), nil, "%+v", o)
	}
	testkit.Fails(bulk.Open(st).Manifest("s1"))(t, fs.ErrNotExist, "the manifest of the old snapshot")
	testkit.EqualLists(t, testkit.Value(bulk.Open(st).Snapshots())(t), []string{kept.Snapshot}, "the index")
}

func count(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	testkit.Must(t, err)
	return n
}

// TestTree exports three snapshots into one directory.
func TestTree(t *testing.T) {
	t.Parallel()
	dir, into := t.TempDir(), filepath.Join(t.TempDir(), "out")
	var inode os.FileInfo
	for i, id := range []string{"s1", "s2", "s3"} {
		// The second one has the same rows.
		_, snap := randomStore(t, dir, uint64(max(i, 1)), 150, id)
		var paths []string
		m, folder, err := ToTree(t.Context(), into, snap, 1, Options{PartitionRows: 100, Written: written(&paths)})
		testkit.Must(t, err)
		if i == 1 && !slices.Equal(paths, []string{"sources.csv"}) {
			t.Errorf("unchanged tables were written again: %q", paths)
		}
		testkit.Equal(t, folder, filepath.Join(into, id), "exported to")
		checkTree(t, into, m)
		info := testkit.Value(os.Stat(filepath.Join(folder, "org", "part-0.parquet")))(t)
		if i > 0 && os.SameFile(info, inode) != (i == 1) {
			t.Errorf("%s: the file of an unchanged table is the same: %v", id, i != 1)
		}
		inode = info
		// The same again changes nothing, other formats are refused.
		if _, _, err := ToTree(t.Context(), into, snap, 1, Options{PartitionRows: 100}); err != nil {
			t.Error(err)
		}
		_, _, err = ToTree(t.Context(), into, snap, 1, Options{Formats: []bulk.Format{bulk.Parquet}})
		testkit.Is(t, err, fs.ErrExist, "another export of %s: error", id)
		checkTree(t, into, m)
	}
	names := func() (names []string) {
		entries := testkit.Value(os.ReadDir(into))(t)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	testkit.EqualLists(t, names(), []string{"index.json", "latest", "s2", "s3"}, "the directory")
}

// checkTree checks that the directory has the files of a manifest, and that the index and the link
// refer to it.
func checkTree(t *testing.T, dir string, m *bulk.Manifest) {
	t.Helper()
	data := testkit.ReadFile(t, filepath.Join(dir, "latest", "manifest.json"))
	got, err := bulk.ParseManifest(data)
	if err != nil || got.Snapshot != m.Snapshot {
		t.Fatalf("latest is %v, %v; want %s", got, err, m.Snapshot)
	}
	documents := testkit.Value(m.Documents(""))(t)
	for name, text := range documents {
		if got := testkit.ReadFile(t, filepath.Join(dir, m.Snapshot, name)); !bytes.Equal(got, text) {
			t.Errorf("%s is not what the manifest gives", name)
		}
	}
	n := 1 + len(documents)
	for f := range m.All {
		n++
		if !bulk.HasFile(filepath.Join(dir, m.Snapshot, filepath.FromSlash(f.Path)), f, true) {
			t.Errorf("%s is missing or damaged", f.Path)
		}
	}
	testkit.Equal(t, count(t, filepath.Join(dir, m.Snapshot)), n, "files")
	var x bulk.Index
	data = testkit.Value(os.ReadFile(filepath.Join(dir, "index.json")))(t)
	if err := json.Unmarshal(data, &x); err != nil || x.Links[2].Snapshot != m.Snapshot || x.Type != "Catalog" {
		t.Errorf("index: %s, %v", data, err)
	}
}

// TestStopped: an export ends with its context and leaves nothing.
func TestStopped(t *testing.T) {
	t.Parallel()
	_, snap := randomStore(t, t.TempDir(), 1, 500, "s1")
	into := t.TempDir()
	ctx, stop := context.WithCancelCause(t.Context())
	reason := errors.New("stopped")
	o := Options{Written: func(*bulk.File) { stop(reason) }}
	if _, _, err := ToTree(ctx, into, snap, 1, o); !errors.Is(err, reason) {
		t.Errorf("error %v, want the cause", err)
	}
	testkit.Equal(t, count(t, into), 0, "files are left")
}
