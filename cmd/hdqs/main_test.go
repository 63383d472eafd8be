// Whole-program tests. They start the real binary, send HTTP requests over loopback and read its
// files; they use nothing else of it. The binary is built once, or HDQS_BINARY names one. Every
// process that a test starts has ended when the test has.
package main_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
	"hdqs/loader"
	"hdqs/loader/sample"
)

// binary is the program under test.
var binary string

// scratch is a folder for what tests share. It is removed at the end.
var scratch string

// buildTime is the snapshot time of every load, so that equal input gives equal bytes.
const buildTime = "2026-11-21T01:02:00Z"

// identifier is for the application hdqs-test and test@example.org.
const identifier = "aGRxcy10ZXN0OnRlc3RAZXhhbXBsZS5vcmc="

func TestMain(m *testing.M) {
	if file := os.Getenv(measureFile); file != "" {
		os.Exit(measure(file))
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	var err error
	if scratch, err = os.MkdirTemp("", "hdqs-whole-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch)
	if binary = os.Getenv("HDQS_BINARY"); binary != "" {
		return m.Run()
	}
	binary = filepath.Join(scratch, "hdqs")
	args := []string{"build", "-o", binary}
	if raceDetector {
		args = append(args, "-race") // to find races of the server, not only those of the tests
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// parallel runs the test beside others, and leaves it out with -short: what runs then is a smoke
// test of a few seconds.
func parallel(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a whole-program test, which -short leaves out")
	}
	t.Parallel()
}

// patient are limits of time of servers that no load of the machine reaches, and allow catalogs of
// a few themes. The flags of a test come first.
var patient = []string{
	"HDQS_QUEUE_WAIT=10m", "HDQS_STORE_TIMEOUT=5m", "HDQS_DRAIN_TIMEOUT=10m",
	"HDQS_ALLOW_EMPTY=" + strings.Join(loader.Roles(), ","),
}

// environment returns this process's environment with patient instead of its HDQS_ variables, and
// with extra ones.
func environment(extra ...string) []string {
	env := slices.Clone(patient)
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "HDQS_") {
			env = append(env, pair)
		}
	}
	return append(env, extra...)
}

// cmdResult is the result of a command that has ended.
type cmdResult struct {
	code           int
	stdout, stderr string
}

// runWith runs the program to its end, with more environment and with input on stdin.
func runWith(t *testing.T, env []string, stdin string, args ...string) cmdResult {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = environment(env...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("hdqs %s: %v", strings.Join(args, " "), err)
	}
	return cmdResult{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// mustExit runs the program and fails the test if it exits with another code.
func mustExit(t *testing.T, code int, args ...string) cmdResult {
	t.Helper()
	return mustExitWith(t, nil, code, args...)
}

func mustExitWith(t *testing.T, env []string, code int, args ...string) cmdResult {
	t.Helper()
	got := runWith(t, env, "", args...)
	if got.code != code {
		t.Fatalf("hdqs %s: exit code %d, want %d\nstdout: %.2000s\nstderr: %.2000s",
			strings.Join(args, " "), got.code, code, got.stdout, got.stderr)
	}
	return got
}

// newCatalog generates a catalog like the sample; another seed gives other data.
func newCatalog(t *testing.T, seed uint64) string {
	t.Helper()
	return newCatalogOf(t, generator.Options{Seed: seed})
}

// shared has a function for each folder that tests share: it makes the folder once.
var shared sync.Map

// once returns a folder that tests share, by its name.
func once(t *testing.T, name string, build func() (string, error)) string {
	t.Helper()
	built, _ := shared.LoadOrStore(name, sync.OnceValues(build))
	folder := testkit.Value(built.(func() (string, error))())(t)
	return folder
}

// generated returns a catalog that tests share.
func generated(t *testing.T, o generator.Options) string {
	t.Helper()
	return once(t, fmt.Sprint("catalog ", o), func() (string, error) {
		dir, err := os.MkdirTemp(scratch, "catalog-")
		if err == nil {
			_, err = generator.Write(dir, o)
		}
		return dir, err
	})
}

// newCatalogOf returns a catalog of its own for the test.
func newCatalogOf(t *testing.T, o generator.Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "catalog")
	testkit.Must(t, os.CopyFS(dir, os.DirFS(generated(t, o))))
	return dir
}

// embeddedCatalog returns a copy of the sample for the test.
func embeddedCatalog(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testkit.Must(t, os.CopyFS(dir, sample.FS))
	testkit.Must(t, os.Remove(filepath.Join(dir, "catalog.json"))) // it has the sums of files that may change
	return dir
}

// smallCatalog returns a catalog of its own for the test, with every kind of file and few rows.
func smallCatalog(t *testing.T) string {
	t.Helper()
	return newCatalogOf(t, generator.Options{Seed: 1, Small: true})
}

// storeOnce returns a store of its own for the test, copied from one that is built once.
func storeOnce(t *testing.T, name, catalog string) string {
	t.Helper()
	return copyStore(t, once(t, name, func() (string, error) {
		dir, err := os.MkdirTemp(scratch, "store-")
		if err != nil {
			return "", err
		}
		cmd := exec.Command(binary, "build", "--catalog", catalog, "--store", dir, "--snapshot-time", buildTime)
		cmd.Env = environment()
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build: %w\n%s", err, out)
		}
		return dir, nil
	}))
}

// smallStore returns a store of its own for the test.
func smallStore(t *testing.T) string {
	t.Helper()
	return newStoreOf(t, generator.Options{Seed: 1, Small: true})
}

// newStoreOf returns a store of its own for the test.
func newStoreOf(t *testing.T, o generator.Options) string {
	t.Helper()
	return storeOnce(t, fmt.Sprint("store ", o), generated(t, o))
}

// fixtureStore returns a store of its own for the test, of the real input.
func fixtureStore(t *testing.T) string {
	t.Helper()
	return storeOnce(t, "store of fixtures", filepath.Join(testkit.Fixtures(t), "catalog"))
}

// sampleStore returns a store of its own for the test.
func sampleStore(t *testing.T) string {
	t.Helper()
	return newStoreOf(t, generator.Options{Seed: 1})
}

// copyStore copies a store, so that a test can change it.
func copyStore(t *testing.T, store string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "store")
	testkit.Must(t, os.CopyFS(to, os.DirFS(store)))
	return to
}

// buildOther builds another catalog into a store. The two have few rows in common, so the check
// against shrinking tables has to be off.
func buildOther(t *testing.T, store, at string) {
	t.Helper()
	mustExit(t, 0, "build", "--catalog", newCatalog(t, 2), "--store", store, "--snapshot-time", at, "--allow-shrink")
}

// decode parses JSON into a new value.
func decode[T any](t *testing.T, text []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return v
}

// snapshotView is what these tests read of `inspect --json`.
type snapshotView struct {
	ID           string    `json:"id"`
	SnapshotTime time.Time `json:"snapshot_time"`
	Rows         int       `json:"rows"`
	Tables       []struct {
		Table  string `json:"table"`
		Rows   int    `json:"rows"`
		SHA256 string `json:"sha256"`
	} `json:"tables"`
}

// inspect returns the snapshot of the store's channel, and its rows by table.
func inspect(t *testing.T, store string) (view snapshotView, rows map[string]int) {
	t.Helper()
	view = decode[snapshotView](t, []byte(mustExit(t, 0, "inspect", "--store", store, "--json").stdout))
	rows = map[string]int{}
	for _, table := range view.Tables {
		rows[table.Table] = table.Rows
	}
	return view, rows
}

// longNumber is a field of a row: a number in which another last digit is as good.
var longNumber = regexp.MustCompile(`,(\d+\.\d+|\d{5,}),`)

// changeRows changes the long numbers in a role's first file, and updates catalog.json.
func changeRows(t *testing.T, dir, role string) {
	t.Helper()
	path := filepath.Join(dir, "catalog.json")
	c := decode[map[string]any](t, testkit.ReadFile(t, path))
	for _, entry := range c["resources"].([]any) {
		r := entry.(map[string]any)
		if r["role"] != role {
			continue
		}
		file := filepath.Join(dir, r["path"].(string))
		data := bytes.TrimRight(testkit.ReadFile(t, file), "\r\n")
		numbers := longNumber.FindAllIndex(data, -1)
		if numbers == nil {
			t.Fatalf("%s: no long number", file)
		}
		for _, number := range numbers {
			digit := &data[number[1]-2]
			*digit = '0' + (*digit-'0'+1)%10
		}
		testkit.WriteFile(t, file, data)
		sum := sha256.Sum256(data)
		r["size"], r["sha256"] = len(data), hex.EncodeToString(sum[:])
		text := testkit.Value(json.Marshal(c))(t)
		testkit.WriteFile(t, path, text)
		return
	}
	t.Fatalf("no file of role %s", role)
}
