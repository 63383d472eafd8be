package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/api/figures"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/sample"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

const idps = "idps/hdx_hapi_idps_global.csv"

var day = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// newStore has a snapshot for each change of the file of displaced people.
func newStore(t *testing.T, changes ...func(string) string) (*store.Store, []*store.Snapshot) {
	t.Helper()
	st := testkit.Value(store.Open(t.TempDir()))(t)
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, sample.FS))
	testkit.Must(t, os.Remove(filepath.Join(dir, "catalog.json"))) // it has the old sums
	var snaps []*store.Snapshot
	for i, change := range changes {
		path := filepath.Join(dir, idps)
		testkit.WriteFile(t, path, []byte(change(string(testkit.ReadFile(t, path)))))
		report, err := loader.Build(t.Context(), loader.Options{
			Catalog: os.DirFS(dir), CatalogName: "sample", Store: st, Channel: "stable",
			SnapshotTime: day.AddDate(0, 0, i), AllowShrink: []string{loader.AllRoles},
		})
		testkit.Must(t, err)
		snap := testkit.Value(st.Snapshots.Open(report.Snapshot))(t)
		t.Cleanup(func() { testkit.Must(t, snap.Close()) })
		snaps = append(snaps, snap)
	}
	return st, snaps
}

// lines returns the data lines of a country changed, or left out where change returns "".
func lines(country string, change func(line string) string) func(string) string {
	return func(text string) string {
		var kept []string
		for line := range strings.Lines(text) {
			if strings.Contains(line, ","+country+",") {
				line = change(line)
			}
			kept = append(kept, line)
		}
		return strings.Join(kept, "")
	}
}

func same(text string) string { return text }

func gone(string) string { return "" }

// rowsOf are the rows of a table as JSON without "table" and "change".
func rowsOf(t *testing.T, snap *store.Snapshot, e *contract.Endpoint) (rows []string) {
	t.Helper()
	empty := testkit.Value(state.Bind(&store.Snapshot{Manifest: &store.Manifest{}}))(t)
	bound, err := state.Bind(snap)
	testkit.Must(t, err)
	var text bytes.Buffer
	_, _, err = figures.WriteChanges(&text, empty, bound, e, false)
	testkit.Must(t, err)
	for line := range strings.Lines(text.String()) {
		rows = append(rows, line)
	}
	return rows
}

// TestMake: the numbers by country are those that a comparison of all rows with one another gives.
func TestMake(t *testing.T) {
	t.Parallel()
	_, snaps := newStore(t, same, func(text string) string {
		text = lines("AFG", gone)(text)
		return lines("COL", func(line string) string { return strings.Replace(line, ",BA,", ",SRV,", 1) })(text)
	})
	text, rows, err := Make(snaps[0], snaps[1], &store.Keys{})
	testkit.Must(t, err)
	from, to := snaps[0].Manifest.ID, snaps[1].Manifest.ID
	kept := testkit.Value(Parse(from, to, text, &store.Keys{}))(t)
	seen := 0
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		before, after := rowsOf(t, snaps[0], e), rowsOf(t, snaps[1], e)
		was := map[string]int{}
		for _, row := range before {
			was[row]++
		}
		var equal int
		for _, row := range after {
			if was[row] > 0 {
				was[row]--
				equal++
			}
		}
		n := kept.Change.Counts[e.Table][""]
		if n[0]+n[2] != len(after)-equal || n[1]+n[2] != len(before)-equal {
			t.Errorf("%s: %v; %d rows before, %d after, %d equal", e.Table, n, len(before), len(after), equal)
		}
		var sum [3]int
		for place, n := range kept.Change.Counts[e.Table] {
			for kind := range n {
				if place != "" {
					sum[kind] += n[kind]
				}
			}
		}
		if e.CountryFields() != nil && sum != n {
			t.Errorf("%s: %v by country, %v in all", e.Table, sum, n)
		}
		seen += n[0] + n[1] + n[2]
	}
	if n := kept.Change.Counts["idps"]["AFG"]; n != [3]int{0, 35, 0} || seen < 40 {
		t.Errorf("AFG: %v; %d changes in all", n, seen)
	}
	count := 0
	testkit.Must(t, kept.EachRow(rows, func([]byte) error { count++; return nil }))
	testkit.Equal(t, count, seen, "rows are kept")
	rows[len(rows)-1] ^= 1
	testkit.Is(t, kept.EachRow(rows, func([]byte) error { return nil }), snapshot.ErrCorrupt, "damaged rows")
	was, is := state.Published{Manifest: snaps[0].Manifest}, state.Published{Manifest: snaps[1].Manifest, At: day}
	whole := state.NewChange(was, is)
	whole.Counts = kept.Change.Counts
	if got := kept.Change.PublishedAt(day); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", whole) {
		t.Errorf("kept %+v\nwant %+v", got, whole)
	}
}

// TestSigned: where signatures are required, what is kept needs one, of the same two snapshots.
func TestSigned(t *testing.T) {
	t.Parallel()
	st, snaps := newStore(t, same, lines("AFG", gone))
	key, keys := testkit.SigningKey(t)
	from, to := snaps[0].Manifest.ID, snaps[1].Manifest.ID
	signed, _, err := Make(snaps[0], snaps[1], st.Signing(key).Keys)
	testkit.Must(t, err)
	plain, _, err := Make(snaps[0], snaps[1], st.Keys)
	testkit.Must(t, err)
	strict := st.Trusting(keys).Keys
	testkit.Value(Parse(from, to, signed, strict))(t)
	if _, err := Parse(from, to, signed, st.Keys); err != nil {
		t.Errorf("without keys: %v", err)
	}
	forged := bytes.Replace(signed, []byte("35"), []byte("34"), 1)
	for name, text := range map[string][]byte{"unsigned": plain, "forged": forged, "empty": nil} {
		testkit.Fails(Parse(from, to, text, strict))(t, store.ErrSignature, "%s", name)
	}
	testkit.Fails(Parse(to, from, signed, strict))(t, store.ErrSignature, "of other snapshots")
}

// TestRow: a row is found now and in what is kept, or in a comparison, with the same lines.
func TestRow(t *testing.T) {
	t.Parallel()
	one := func(population string) func(string) string {
		return lines("AFG", func(line string) string {
			if strings.Contains(line, "Kaswan") && strings.Contains(line, ",1,2025-01-01,") {
				parts := strings.Split(line, ",BA,")
				_, rest, _ := strings.Cut(parts[1], ",")
				return parts[0] + ",BA," + population + "," + rest
			}
			return line
		})
	}
	st, snaps := newStore(t, one("7"), one("8"), lines("COL", gone), lines("AFG", gone))
	at := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Table == "idps" })
	find := func(kept bool, values ...string) (string, error) {
		var out bytes.Buffer
		r := &Row{Endpoint: &contract.Endpoints[at], Out: &out}
		for _, v := range values {
			if _, ok := r.Name(v); !ok {
				t.Fatal(v)
			}
		}
		pointer := func(i int) store.Pointer {
			return store.Pointer{ID: snaps[i].Manifest.ID, PublishedAt: day.AddDate(0, 0, i)}
		}
		err := r.Current(snaps[2], pointer(2))
		for i := 3; i > 0 && err == nil; i-- {
			if kept {
				err = r.Kept(t.Context(), st.Files(), st.Keys, pointer(i-1), pointer(i))
			} else {
				err = r.Between(snaps[i-1], snaps[i], pointer(i))
			}
		}
		return out.String(), err
	}
	for i := range 3 {
		text, rows, err := Make(snaps[i], snaps[i+1], st.Keys)
		testkit.Must(t, err)
		a, b := snaps[i].Manifest.ID, snaps[i+1].Manifest.ID
		testkit.Must(t, errors.Join(st.Snapshots.PutFile(RowsName(a, b), rows), st.Snapshots.PutFile(Name(a, b), text)))
	}
	name := []string{"location_code=AFG", "admin2_code=AF0101", "reporting_round=1", "assessment_type=BA"}
	compared := testkit.Value(find(false, name...))(t)
	read := testkit.Value(find(true, name...))(t)
	testkit.Equal(t, read, compared, "kept")
	var got []string
	d := json.NewDecoder(strings.NewReader(read))
	for {
		var v struct {
			Snapshot, Change string
			Population       int
			Was              map[string]any
		}
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			break
		}
		testkit.Must(t, err)
		got = append(got, fmt.Sprint(v.Snapshot[:8], " ", v.Change, " ", v.Population, " ", v.Was))
	}
	if want := []string{
		"20261123 none 8 map[]", "20261124 removed 8 map[]", "20261122 changed 8 map[population:7]",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := find(true, "location_code=AFG"); err == nil || !strings.Contains(err.Error(), "reporting_round") {
		t.Errorf("several rows: %v", err)
	}
	testkit.Equal(t, testkit.Value(find(true, "location_code=XXX"))(t), "", "no row")

	testkit.Must(t, Prune(t.Context(), st.Files(), 2))
	testkit.Equal(t, len(testkit.Value(st.Files().List(t.Context(), folder))(t)), 4, "files left")
	testkit.Fails(find(true, name...))(t, os.ErrNotExist, "without the oldest")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\n" + `{"change":{"From":"a","To":"b","Counts":{"idps":{"":[1,2,3],"AFG":[1,2,3]}}},"rows_sha256":"00"}`))
	f.Add([]byte("c2lnbmF0dXJl\n" + `{"change":{"From":"a","To":"b","Counts":{"idps":{"":[-1,0,0]}}}}`))
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := Parse("a", "b", data, &store.Keys{})
		if err == nil && (k.Change == nil || k.Change.From != "a" || k.Change.To != "b") {
			t.Fatalf("%+v", k)
		}
		if err != nil && !errors.Is(err, snapshot.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}
