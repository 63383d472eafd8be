package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// maxHostileMemory is the most that a load may take on hostile input, in bytes.
const maxHostileMemory = 150 << 20

// measureFile is the environment variable that makes the test binary run measure.
const measureFile = "HDQS_TEST_MEASURE"

// measure runs the program that is named by the arguments to its end, and writes the most memory
// that it had to a file, in bytes. It is a process of its own, since the peak of a process is at
// least that of the one that started it.
func measure(file string) int {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment("GOGC="), os.Stdout, os.Stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 // Linux counts in KiB
	if err := os.WriteFile(file, fmt.Append(nil, peak), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// runMeasured runs the program to its end and returns the most memory that it had, in bytes.
func runMeasured(t *testing.T, args ...string) (got cmdResult, peak int64) {
	t.Helper()
	self, err := os.Executable()
	testkit.Must(t, err)
	file := filepath.Join(t.TempDir(), "peak")
	cmd := exec.CommandContext(t.Context(), self, append([]string{binary}, args...)...)
	cmd.Env = environment(measureFile + "=" + file)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("hdqs %s: %v", strings.Join(args, " "), err)
	}
	if _, err := fmt.Sscan(string(testkit.ReadFile(t, file)), &peak); err != nil {
		t.Fatal(err)
	}
	return cmdResult{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, peak
}

// hostileMirror is a mirror of a generated catalog in which some paths are replaced.
type hostileMirror struct {
	files http.Handler
	paths map[string]func(w io.Writer)
}

// ServeHTTP serves a file.
func (m *hostileMirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if write := m.paths[r.URL.Path]; write != nil {
		write(w)
		return
	}
	m.files.ServeHTTP(w, r)
}

// repeated writes a text, then another one so often that they have at least size bytes, then the
// end.
func repeated(start, part, end string, size int) func(w io.Writer) {
	return func(w io.Writer) {
		many := strings.Repeat(part, 1+(64<<10)/len(part))
		if _, err := io.WriteString(w, start); err != nil {
			return
		}
		for sent := 0; sent < size; sent += len(many) {
			if _, err := io.WriteString(w, many); err != nil {
				return
			}
		}
		_, _ = io.WriteString(w, strings.TrimPrefix(end, ","))
	}
}

// zipped is write through gzip.
func zipped(write func(w io.Writer)) func(w io.Writer) {
	return func(w io.Writer) {
		z := gzip.NewWriter(w)
		write(z)
		_ = z.Close()
	}
}

// withFile is the catalog.json of a catalog with one more file, without sizes and sums.
func withFile(t *testing.T, dir, role, path string) func(w io.Writer) {
	t.Helper()
	type entry struct {
		Role string `json:"role"`
		Path string `json:"path"`
	}
	catalog := decode[struct {
		Format    int     `json:"format"`
		Resources []entry `json:"resources"`
	}](t, testkit.ReadFile(t, filepath.Join(dir, "catalog.json")))
	catalog.Resources = append(catalog.Resources, entry{role, path})
	text, err := json.Marshal(catalog)
	testkit.Must(t, err)
	return func(w io.Writer) { _, _ = w.Write(text) }
}

// listings is a catalog.json of many files, each with the same text, at least size bytes in all.
func listings(entry string, size int) func(w io.Writer) {
	return repeated(`{"format": 1, "resources": [{}`, ","+entry, `]}`, size)
}

const (
	mega = 1 << 20
	idps = "location_code,has_hrp,in_gho,provider_admin1_name,provider_admin2_name,admin1_code,admin1_name," +
		"admin2_code,admin2_name,admin_level,operation,assessment_type,population,reporting_round," +
		"reference_period_start,reference_period_end,dataset_hdx_id,resource_hdx_id,warning,error\n"
	idpRow = "AFG,Y,Y,,,,,,,0,Op,BA,1,1,2025-01-01,2025-01-01,set,res-1,,\n"
)

// TestHostileMirror loads from mirrors that send endless or bloated files. The load ends with the
// true reason, in bounded memory.
func TestHostileMirror(t *testing.T) {
	parallel(t)
	dir := newCatalog(t, 1)
	for name, c := range map[string]struct {
		paths map[string]func(w io.Writer)
		code  int
		want  string // in the messages or the report
	}{
		"five million files in 15 MB": {
			map[string]func(w io.Writer){"/catalog.json": listings("{}", 15*mega)},
			3, "catalog.json lists more than 10000 files",
		},
		"endless catalog.json": {
			map[string]func(w io.Writer){"/catalog.json": listings(`{"role":"idps","path":"idps/a.csv"}`, 1<<40)},
			3, "more than 16777216 bytes, at most 16777216 are allowed",
		},
		"36 MB of a package": {
			map[string]func(w io.Writer){
				"/catalog.json":    withFile(t, dir, "package", "packages/p.json"),
				"/packages/p.json": repeated(`{"id": "p", "name": "n", "resources": [{}`, ",{}", "]}", 36*mega),
			},
			5, "packages/p.json: 37",
		},
		"15 MB of a package": {
			map[string]func(w io.Writer){
				"/catalog.json":    withFile(t, dir, "package", "packages/p.json"),
				"/packages/p.json": repeated(`{"id": "p", "name": "n", "resources": [{}`, ",{}", "]}", 15*mega),
			},
			5, "packages/p.json: the package has more than 5000 resources",
		},
		"600 MB of rows in a small archive": {
			map[string]func(w io.Writer){
				"/catalog.json":  withFile(t, dir, "idps", "idps/a.csv.gz"),
				"/idps/a.csv.gz": zipped(repeated(idps, idpRow, "", 600*mega)),
			},
			5, "unpacks to more than 100 times its size",
		},
		"a text of its own in every row": {
			map[string]func(w io.Writer){
				"/catalog.json": withFile(t, dir, "idps", "idps/a.csv.gz"),
				"/idps/a.csv.gz": zipped(func(w io.Writer) {
					fmt.Fprint(w, idps)
					for i := range 1_000_000 {
						fmt.Fprintf(w, "AFG,Y,Y,,,,,,,0,Op%d,BA,%d,1,2025-01-01,2025-01-01,set,res-%d,,\n", i, i, i)
					}
				}),
			},
			5, "the distinct texts of this role take",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&hostileMirror{http.FileServer(http.Dir(dir)), c.paths})
			defer server.Close()
			data := t.TempDir()
			began := time.Now()
			got, peak := runMeasured(t, "build", "--catalog", server.URL, "--store", filepath.Join(data, "store"),
				"--data-dir", data, "--allow-http", "--allow-private-hosts", "--json")
			checkBounded(t, got, peak, c.want)
			said := got.stdout + got.stderr
			if strings.Contains(said, "package_search") || strings.Contains(said, "CKAN") {
				t.Errorf("the mirror is reported as a CKAN site:\n%s", said)
			}
			if got.code != c.code {
				t.Errorf("exit code %d, want %d", got.code, c.code)
			}
			t.Logf("%d MB, %.1f s, exit code %d", peak>>20, time.Since(began).Seconds(), got.code)
		})
	}
}

// checkBounded checks what a load of hostile input prints and how much memory it took.
func checkBounded(t *testing.T, got cmdResult, peak int64, want string) {
	t.Helper()
	if !strings.Contains(got.stdout+got.stderr, want) {
		t.Errorf("nothing says %q:\n%.2000s\n%.2000s", want, got.stdout, got.stderr)
	}
	if peak > maxHostileMemory && !raceDetector {
		t.Errorf("%d MB of memory, at most %d are allowed", peak>>20, maxHostileMemory>>20)
	}
}

// TestHostileSite loads from CKAN sites that send endless or bloated answers.
func TestHostileSite(t *testing.T) {
	parallel(t)
	for name, c := range map[string]struct {
		answer func(w io.Writer)
		want   string
	}{
		"an endless answer": {
			repeated(`{"success": true, "result": {"count": 1, "results": [{"id": "p", "name": "`, "x", "", 1<<40),
			"more than 16777216 bytes",
		},
		"many packages at once": {
			repeated(`{"success": true, "result": {"count": 5000000, "results": [{}`, ",{}", "]}}", 15*mega),
			"package_search returned more than 100 packages",
		},
		"many resources": {
			repeated(`{"success": true, "result": {"count": 1, "results": [{"id": "p", "resources": [{}`, ",{}", "]}]}}", 15*mega),
			"a package has more than 5000 resources",
		},
		"a search without end": {
			repeated(`{"success": true, "result": {"count": 1000000000, "results": [{"id": "p"}]}}`, "\n", "", 1),
			"found more than 10000 packages",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasPrefix(r.URL.Path, "/api/3/") {
					http.NotFound(w, r)
					return
				}
				c.answer(w)
			}))
			defer server.Close()
			data := t.TempDir()
			got, peak := runMeasured(t, "build", "--catalog", server.URL, "--store", filepath.Join(data, "store"),
				"--data-dir", data, "--allow-http", "--allow-private-hosts")
			checkBounded(t, got, peak, c.want)
			if got.code != 3 {
				t.Errorf("exit code %d, want 3", got.code)
			}
			t.Logf("%d MB", peak>>20)
		})
	}
}

// TestHostileRows loads a directory whose rows would take more memory than is wanted: --max-rows
// bounds it.
func TestHostileRows(t *testing.T) {
	parallel(t)
	dir := newCatalog(t, 1)
	old, err := filepath.Glob(filepath.Join(dir, "idps", "*"))
	if err != nil || len(old) != 1 {
		t.Fatalf("%q, %v", old, err)
	}
	var rows bytes.Buffer
	fmt.Fprint(&rows, idps)
	for i := range 1_500_000 {
		fmt.Fprintf(&rows, "AFG,Y,Y,,,,,,,0,Op,BA,%d,1,2025-01-01,2025-01-01,set,res-1,,\n", i)
	}
	testkit.ReplaceFile(t, old[0], rows.Bytes())
	if err := os.Remove(filepath.Join(dir, "catalog.json")); err != nil { // it has the old sums
		t.Fatal(err)
	}
	got, peak := runMeasured(t, "build", "--catalog", dir, "--store", filepath.Join(t.TempDir(), "store"),
		"--max-rows", "200000", "--snapshot-time", buildTime)
	checkBounded(t, got, peak, "more than 200000 rows of this role; --max-rows raises the bound")
	if got.code != 5 {
		t.Errorf("exit code %d, want 5", got.code)
	}
	t.Logf("%d MB", peak>>20)
}

// TestBombs: files of a directory that are huge when they are read are refused, and do not use
// memory in proportion. TestHostileMirror has those that are compressed.
func TestBombs(t *testing.T) {
	parallel(t)
	dir := newCatalog(t, 1)
	testkit.Must(t, os.Remove(filepath.Join(dir, "catalog.json")))
	head := func(path string) []byte {
		data := testkit.ReadFile(t, filepath.Join(dir, path))
		return data[:bytes.IndexByte(data, '\n')+1]
	}
	const huge = "returnees/huge.csv"
	wants := map[string]string{
		"humanitarian-needs/cell.csv": "row of more than 1048576 bytes",
		"funding/wide.csv":            "at most 512",
		huge:                          "2147483649 bytes, at most 2147483648 are read",
	}
	for path, content := range map[string][]byte{
		"humanitarian-needs/cell.csv": slices.Concat(
			head("humanitarian-needs/hdx_hapi_humanitarian_needs_global_2025.csv"),
			[]byte{'"'}, bytes.Repeat([]byte("x"), 200*mega)),
		"funding/wide.csv": append(bytes.Repeat([]byte("c,"), 600), head("funding/hdx_hapi_funding_global.csv")...),
		huge:               head("returnees/hdx_hapi_returnees_global.csv"),
	} {
		testkit.WriteFile(t, filepath.Join(dir, path), content)
	}
	if err := os.Truncate(filepath.Join(dir, huge), 2<<30+1); err != nil { // a sparse file
		t.Fatal(err)
	}
	got, peak := runMeasured(t, "build", "--catalog", dir, "--store", filepath.Join(t.TempDir(), "store"), "--json")
	if got.code != 5 {
		t.Fatalf("exit code %d: %s", got.code, got.stderr)
	}
	checkBounded(t, got, peak, wants[huge])
	refused := map[string]string{}
	for _, r := range decode[report](t, []byte(got.stdout)).Refused {
		refused[r.Path] = r.Why
	}
	for path, why := range wants {
		if !strings.Contains(refused[path], why) {
			t.Errorf("%s: %q, want %q", path, refused[path], why)
		}
	}
}

// TestInterruptedWait sends a signal to a build that waits for a file that never comes.
func TestInterruptedWait(t *testing.T) {
	parallel(t)
	dir := newCatalog(t, 1)
	data := t.TempDir()
	pipe := filepath.Join(data, "locations.csv")
	testkit.Must(t, syscall.Mkfifo(pipe, 0o644))
	catalog := withFile(t, dir, "idps", "idps/a.csv")
	server := httptest.NewServer(&hostileMirror{http.FileServer(http.Dir(dir)), map[string]func(w io.Writer){
		"/catalog.json": func(w io.Writer) {
			var text bytes.Buffer
			catalog(&text)
			_, _ = io.WriteString(w, strings.Replace(text.String(), "reference/location.csv", "other/location.csv", 1))
		},
		"/other/location.csv": func(w io.Writer) { _, _ = io.WriteString(w, "no list\n") },
	}})
	defer server.Close()
	p := start(t, nil, "build", "--catalog", server.URL, "--store", filepath.Join(data, "store"), "--data-dir", data,
		"--allow-http", "--allow-private-hosts", "--location-list", pipe)
	testkit.WaitFor(t, "the build to wait", func() bool {
		trees, err := filepath.Glob(filepath.Join(data, "catalogs", "*", ".tree-*", "catalog.json"))
		folders, _ := filepath.Glob(filepath.Join(data, "catalogs", "*", ".tree-*", "idps"))
		return err == nil && len(trees) == 0 && len(folders) > 0
	})
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	if code := p.stop(t); code != 130 {
		t.Errorf("exit code %d, want 130\n%s", code, p.log)
	}
	t.Logf("ended %s after the signal", time.Since(began).Round(time.Millisecond))
}
