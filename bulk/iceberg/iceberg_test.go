package iceberg

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hdqs/internal/testkit"
)

func number(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// randomTable returns a table whose states add, keep and remove files, become partitioned, and get
// columns at their end.
func randomTable(r *rand.Rand) *Table {
	all := []Field{
		{1, "place", "code of the place", String},
		{2, "n", "", Long},
		{3, "x", "", Double},
		{5, "at", "", Timestamp},
		{6, "yes", "", Boolean},
	}
	t := &Table{Name: "t", Location: "/store/t"}
	fields, partition, at := 2+r.IntN(3), "", time.Unix(1_700_000_000, 0)
	files := map[string]File{}
	for i := range 1 + r.IntN(6) {
		if r.IntN(3) == 0 && fields < len(all) {
			fields++
			clear(files)
		}
		if r.IntN(3) == 0 && partition == "" {
			partition = "place"
			clear(files)
		}
		maps.DeleteFunc(files, func(string, File) bool { return r.IntN(4) == 0 })
		for range r.IntN(4) {
			f := File{
				Path: fmt.Sprintf("/store/data/%d.parquet", r.IntN(1e6)), Rows: 1 + r.Int64N(100), Bytes: r.Int64N(1e6),
				Columns: make([]Column, fields),
			}
			if partition != "" {
				f.Partition = strings.Trim(string(rune('A'+r.IntN(26))), "ABC") // some are null
			}
			for k := range f.Columns {
				f.Columns[k].ID = all[k].ID
			}
			f.Columns[1] = Column{2, 7, r.Int64N(3), number(5), number(r.Uint64())}
			files[f.Path] = f
		}
		at = at.Add(time.Duration(r.IntN(3)) * time.Minute)
		t.States = append(t.States, State{
			ID: fmt.Sprintf("state-%d", i), Time: at, Fields: slices.Clone(all[:fields]), PartitionBy: partition,
			Files: slices.Collect(maps.Values(files)),
		})
	}
	return t
}

// read is the metadata of a table as a reader finds it.
type read struct {
	t    *testing.T
	made *Metadata
	json metadataJSON
}

func build(t *testing.T, table *Table) *read {
	t.Helper()
	made := testkit.Value(Build(table))(t)
	r := &read{t: t, made: made}
	testkit.Must(t, json.Unmarshal(made.JSON, &r.json))
	return r
}

// files returns what a snapshot has, by path, as a reader of its manifests finds it.
func (r *read) files(s *snapshotJSON) map[string]File {
	header, manifests := readAvro(r.t, r.file(s.List))
	if header["snapshot-id"] != fmt.Sprint(s.ID) || header["sequence-number"] != fmt.Sprint(s.Sequence) {
		r.t.Errorf("the list of %d has the header %v", s.ID, header)
	}
	found := map[string]File{}
	for _, m := range manifests {
		file := r.file(m["manifest_path"].(string))
		if int64(len(file)) != m["manifest_length"] {
			r.t.Errorf("%s has %d bytes, its list says %d", m["manifest_path"], len(file), m["manifest_length"])
		}
		header, entries := readAvro(r.t, file)
		if header["partition-spec-id"] != fmt.Sprint(m["partition_spec_id"]) {
			r.t.Errorf("the manifest has the partitioning %s, its list says %d", header["partition-spec-id"],
				m["partition_spec_id"])
		}
		var counts [3]int64
		for _, e := range entries {
			counts[e["status"].(int64)]++
			if e["sequence_number"].(int64) < m["min_sequence_number"].(int64) && e["status"] != int64(deleted) {
				r.t.Errorf("a file has the sequence number %d, the least is %d", e["sequence_number"],
					m["min_sequence_number"])
			}
			if e["status"] == int64(added) && e["snapshot_id"] != m["added_snapshot_id"] {
				r.t.Errorf("a file was added by %d in a manifest of %d", e["snapshot_id"], m["added_snapshot_id"])
			}
			if e["status"] != int64(deleted) {
				f := r.dataFile(e["data_file"].(map[string]any), m)
				found[f.Path] = f
			}
		}
		want := [3]int64{
			existing: m["existing_files_count"].(int64), added: m["added_files_count"].(int64),
			deleted: m["deleted_files_count"].(int64),
		}
		if counts != want {
			r.t.Errorf("a manifest has %v files by status, its list says %v", counts, want)
		}
	}
	return found
}

func (r *read) file(at string) []byte {
	if !strings.HasPrefix(at, r.json.Location+"/metadata/") {
		r.t.Errorf("%s is not below %s", at, r.json.Location)
	}
	data, ok := r.made.Files[path.Base(at)]
	if !ok {
		r.t.Fatalf("no file %s", at)
	}
	return data
}

// dataFile reads a file's entry.
func (r *read) dataFile(e, m map[string]any) File {
	f := File{Path: e["file_path"].(string), Rows: e["record_count"].(int64), Bytes: e["file_size_in_bytes"].(int64)}
	if place, ok := e["partition"].(map[string]any)["place"]; ok && place == nil {
		if bounds := m["partitions"].([]any)[0].(map[string]any); bounds["contains_null"] != true {
			r.t.Errorf("a place is null, and no bound of its manifest says so: %v", bounds)
		}
	} else if place, ok := place.(string); ok {
		f.Partition = place
		bounds := m["partitions"].([]any)[0].(map[string]any)
		if place < bounds["lower_bound"].(string) || place > bounds["upper_bound"].(string) {
			r.t.Errorf("%s is outside of the bounds %v of its manifest", place, bounds)
		}
	}
	for _, p := range e["null_value_counts"].([]any) {
		f.Columns = append(f.Columns, Column{ID: int(p.(map[string]any)["key"].(int64))})
	}
	each := func(name string, set func(c *Column, v any)) {
		for _, p := range e[name].([]any) {
			pair := p.(map[string]any)
			at := slices.IndexFunc(f.Columns, func(c Column) bool { return int64(c.ID) == pair["key"] })
			set(&f.Columns[at], pair["value"])
		}
	}
	each("column_sizes", func(c *Column, v any) { c.Bytes = v.(int64) })
	each("null_value_counts", func(c *Column, v any) { c.Nulls = v.(int64) })
	each("lower_bounds", func(c *Column, v any) { c.Least = []byte(v.(string)) })
	each("upper_bounds", func(c *Column, v any) { c.Most = []byte(v.(string)) })
	return f
}

func TestSnapshotsHaveTheFilesOfTheirStates(t *testing.T) {
	for seed := range uint64(300) {
		table := randomTable(rand.New(rand.NewPCG(seed, 17)))
		r := build(t, table)
		if again := build(t, table); !bytes.Equal(r.made.JSON, again.made.JSON) || !reflect.DeepEqual(r.made.Files,
			again.made.Files) {
			t.Fatalf("seed %d: the same table gives other bytes", seed)
		}
		if len(r.json.Snapshots) != len(table.States) {
			t.Fatalf("seed %d: %d snapshots for %d states", seed, len(r.json.Snapshots), len(table.States))
		}
		before := snapshotJSON{}
		for i, state := range table.States {
			s := r.json.Snapshots[i]
			want := map[string]File{}
			for _, f := range state.Files {
				want[f.Path] = f
			}
			if got := r.files(&s); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, state %d: files\n%v\nwant\n%v", seed, i, got, want)
			}
			if s.Parent != before.ID || s.Time <= before.Time || s.Sequence <= before.Sequence {
				t.Fatalf("seed %d: snapshot %+v follows %+v", seed, s, before)
			}
			if tag := r.json.Refs[state.ID]; tag != (ref{s.ID, "tag"}) {
				t.Fatalf("seed %d: %s is %v, want a tag of %d", seed, state.ID, tag, s.ID)
			}
			if got, want := r.json.Schemas[s.Schema].Fields, newSchema(0, state.Fields).Fields; !slices.Equal(got,
				want) {
				t.Fatalf("seed %d: snapshot %d has the columns %v, want %v", seed, i, got, want)
			}
			before = s
		}
		if r.json.CurrentSnapshot != before.ID || r.json.Refs["main"].Snapshot != before.ID {
			t.Fatalf("seed %d: the current snapshot is %d, want %d", seed, r.json.CurrentSnapshot, before.ID)
		}
	}
}

// A manifest of a state that stays does not change when earlier states are no longer listed, unless
// it names files of theirs.
func TestStatesThatAreGone(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	state := func(i int, paths ...string) State {
		s := State{
			ID: fmt.Sprint("s", i), Time: at.Add(time.Duration(i) * time.Hour),
			Fields: []Field{{1, "n", "", Long}},
		}
		for _, p := range paths {
			s.Files = append(s.Files, File{Path: p, Rows: 1, Bytes: 1})
		}
		return s
	}
	table := &Table{
		Name: "t", Location: "/t",
		States: []State{state(1, "/a"), state(2, "/b"), state(3, "/c"), state(4, "/c", "/d")},
	}
	whole := build(t, table)
	table.States = table.States[1:]
	rest := build(t, table)
	testkit.Equal(t, rest.json.UUID, whole.json.UUID, "the table has another UUID")
	last := whole.json.Snapshots[3]
	if got := rest.json.Snapshots[2]; got.List != last.List || got.ID != last.ID {
		t.Errorf("the last snapshot is %+v, was %+v", got, last)
	}
}

func TestOtherColumnsStartAnew(t *testing.T) {
	state := func(id string, fields ...Field) State { return State{ID: id, Time: time.Unix(1e9, 0), Fields: fields} }
	a, b, c := Field{1, "a", "", Long}, Field{2, "b", "", Long}, Field{2, "b", "", Double}
	for name, states := range map[string][]State{
		"another order": {state("old", a, b), state("new", b, a), state("newest", b, a)},
		"another type":  {state("old", a, b), state("new", a, c), state("newest", a, c)},
		"fewer":         {state("old", a, b), state("new", a), state("newest", a, c)},
	} {
		r := build(t, &Table{Name: "t", Location: "/t", States: states})
		if _, ok := r.json.Refs["old"]; ok || len(r.json.Snapshots) != 2 {
			t.Errorf("%s: the table has the snapshots %v", name, r.json.Refs)
		}
	}
}

func TestStatesThatCannotBeWritten(t *testing.T) {
	fields := []Field{{1, "place", "", String}, {2, "n", "", Long}}
	file := File{Path: "/a"}
	for want, s := range map[string]State{
		`column n has the type "int"`:   {ID: "s", Fields: []Field{{1, "n", "", "int"}}},
		"partitioned by n, which is no": {ID: "s", Fields: fields, PartitionBy: "n"},
		"has the file /a twice":         {ID: "s", Fields: fields, Files: []File{file, file}},
		"has 1 columns, want 2": {
			ID: "s", Fields: fields,
			Files: []File{{Path: "/a", Columns: make([]Column, 1)}},
		},
		`the id "main" of a state is empty`: {ID: "main", Fields: fields},
	} {
		if _, err := Build(&Table{Name: "t", Location: "/t", States: []State{s}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := Build(&Table{Name: "t"}); err == nil {
		t.Error("a table without a state was built")
	}
}

func TestBoundsOfTextsAreBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	runes := []rune{'a', 'z', 'é', 0xD7FF, 0xE000, 0xFFFF, utf8.MaxRune}
	for range 20_000 {
		text := make([]rune, r.IntN(2*maxBound))
		for i := range text {
			text[i] = runes[r.IntN(len(runes))]
		}
		v := string(text)
		least, most := Least(v), Most(v)
		if string(least) > v || most != nil && (string(most) < v || !utf8.Valid(most)) {
			t.Fatalf("%q is not between %q and %q", v, least, most)
		}
		if len(text) <= maxBound && (string(least) != v || string(most) != v) {
			t.Fatalf("%q has the bounds %q and %q", v, least, most)
		}
	}
	if most := Most(strings.Repeat(string(utf8.MaxRune), maxBound+1)); most != nil {
		t.Errorf("the largest characters have the bound %q", most)
	}
}

func TestWriteKeepsTheVersionBefore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "metadata")
	table := randomTable(rand.New(rand.NewPCG(5, 6)))
	var made []*Metadata
	for i := range 4 {
		table.States = []State{{
			ID: fmt.Sprint("s", i), Time: time.Unix(int64(1e9+i), 0), Fields: []Field{{1, "n", "", Long}},
			Files: []File{{Path: fmt.Sprint("/", i)}},
		}}
		made = append(made, build(t, table).made)
		for range 2 { // the second time nothing is written
			version, err := Write(dir, made[i])
			if err != nil || version != i+1 {
				t.Fatalf("version %d, %v; want %d", version, err, i+1)
			}
		}
		for k := range i + 1 {
			data, err := os.ReadFile(filepath.Join(dir, metadataName(k+1)))
			kept := err == nil && bytes.Equal(data, made[k].JSON)
			for name, want := range made[k].Files {
				data, err := os.ReadFile(filepath.Join(dir, name))
				kept = kept && err == nil && bytes.Equal(data, want)
			}
			testkit.Equal(t, kept, k >= i-1, "after version %d, version %d is there", i+1, k+1)
		}
	}
	testkit.Must(t, os.WriteFile(filepath.Join(dir, hintName), []byte("four"), 0o600))
	if _, err := Write(dir, made[0]); err == nil || !strings.Contains(err.Error(), `"four"`) {
		t.Errorf("error %v, want one that quotes the version", err)
	}
}

// TestWriteKeepsWhatCopiesHave copies a table without the times of its files, as `cp -r` does, and
// writes over what a killed writer has left.
func TestWriteKeepsWhatCopiesHave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "metadata")
	table := randomTable(rand.New(rand.NewPCG(5, 7)))
	add := func(i int) *Metadata {
		table.States = append(table.States, State{
			ID: fmt.Sprint("s", i), Time: time.Unix(int64(2e9+i), 0), Fields: []Field{{1, "n", "", Long}},
			Files: []File{{Path: fmt.Sprint("/", i)}},
		})
		return build(t, table).made
	}
	table.States = nil
	first, second, lost, third := add(1), add(2), add(3), add(4)
	for _, m := range []*Metadata{first, second} {
		testkit.Value(Write(dir, m))(t)
	}
	copied := filepath.Join(t.TempDir(), "metadata")
	testkit.Must(t, os.CopyFS(copied, os.DirFS(dir)))
	entries := testkit.Value(os.ReadDir(copied))(t)
	for i, e := range entries { // in any order
		at := time.Unix(int64(1e9+i*7919%97), 0)
		testkit.Must(t, os.Chtimes(filepath.Join(copied, e.Name()), at, at))
	}
	for name, data := range lost.Files {
		testkit.Must(t, os.WriteFile(filepath.Join(copied, name), data, 0o600))
	}
	testkit.Must(t, os.WriteFile(filepath.Join(copied, metadataName(3)), lost.JSON, 0o600))
	version, err := Write(copied, third)
	if err != nil || version != 4 {
		t.Fatalf("version %d, %v; want 4, since 3 is taken", version, err)
	}
	want := map[string][]byte{hintName: []byte("4"), metadataName(2): second.JSON, metadataName(4): third.JSON}
	maps.Copy(want, second.Files)
	maps.Copy(want, third.Files)
	got := map[string][]byte{}
	for _, e := range must(os.ReadDir(copied)) {
		got[e.Name()] = must(os.ReadFile(filepath.Join(copied, e.Name())))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the folder has %q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	// Metadata of an earlier release names no manifests, so nothing of it may be removed.
	earlier := bytes.ReplaceAll(third.JSON, []byte(manifestsKey), []byte("hdqs.other"))
	testkit.Must(t, os.WriteFile(filepath.Join(copied, metadataName(4)), earlier, 0o600))
	testkit.Value(Write(copied, add(5)))(t)
	for name := range want {
		testkit.Value(os.Stat(filepath.Join(copied, name)))(t)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestExpire removes states from random tables: those that stay have the files that they had.
func TestExpire(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 19))
		table := randomTable(r)
		whole := build(t, table)
		kept, stays := map[string]bool{}, []snapshotJSON{}
		for _, s := range whole.json.Snapshots {
			if id := s.Summary[stateKey]; r.IntN(2) == 0 {
				kept[id] = true
				stays = append(stays, s)
			}
		}
		dir := t.TempDir()
		metadata := filepath.Join(dir, filepath.FromSlash(Folder), "t", "metadata")
		testkit.Value(Write(metadata, whole.made))(t)
		for range 2 { // the second time nothing changes
			testkit.Must(t, Expire(dir, kept))
		}
		if len(stays) == 0 {
			if _, err := os.Stat(filepath.Dir(metadata)); err == nil {
				t.Fatalf("seed %d: the table is there without a state", seed)
			}
			continue
		}
		got := readWritten(t, metadata)
		if version := string(got.made.Files[hintName]); (version == "1") != (len(stays) == len(whole.json.Snapshots)) {
			t.Fatalf("seed %d: version %s", seed, version)
		}
		if !reflect.DeepEqual(got.json.Snapshots, stays) || len(got.json.Refs) != len(stays)+1 ||
			got.json.Refs[mainBranch].Snapshot != stays[len(stays)-1].ID ||
			got.json.CurrentSnapshot != stays[len(stays)-1].ID ||
			got.json.CurrentSchema != stays[len(stays)-1].Schema || len(got.json.SnapshotLog) != len(stays) {
			t.Fatalf("seed %d: %+v, want the snapshots %+v", seed, got.json, stays)
		}
		for _, s := range stays {
			if found := got.files(&s); !reflect.DeepEqual(found, whole.files(&s)) {
				t.Fatalf("seed %d: %s has the files %v", seed, s.Summary[stateKey], found)
			}
		}
	}
}
