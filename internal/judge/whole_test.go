package judge

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

const wholeTime = "2026-11-21T01:02:00Z"

// TestJudge judges the real binary on dumps of made-up data, and on the same with odd contents,
// where it also compares a later edition. In the long form also on the small dumps of testdata, the
// files that the made-up dumps are the joins of, and long tables. HDQS_BINARY names a binary built
// before.
func TestJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	binary := hdqsBinary(t)
	generate := func(write func(string, generator.Options) ([]generator.Count, error), o generator.Options) string {
		dir := t.TempDir()
		testkit.Value(write(dir, o))(t)
		return dir
	}
	made := generate(generator.WriteViews, generator.Options{Seed: 11})
	type input struct {
		name, catalog, views string
		kinds                string
		n                    string
	}
	odd := oddEdition(t, made, 23)
	inputs := []input{{"made", made, made, allKinds, "1500"}, {"odd", odd, odd, allKinds, "1500"}}
	if testkit.Long() {
		small := testkit.Value(filepath.Abs("testdata/views"))(t)
		large := generate(generator.WriteViews, generator.Options{Seed: 12, Scale: 0.01})
		inputs = []input{
			{"made", made, made, allKinds, "4000"},
			{"odd", odd, odd, allKinds, "4000"},
			{"small", small, small, allKinds, "4000"},
			// Joined by the loader, judged by the dumps of the same world.
			{"files", generate(generator.Write, generator.Options{Seed: 11}), made, allKinds, "2000"},
			// Tables longer than a page, and columns with more values than codes.
			{"large", large, large, "boundary,odd,combined,long", "800"},
		}
	}
	for i, c := range inputs {
		seed := string(rune('1' + i))
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := filepath.Join(t.TempDir(), "store")
			command(t, binary, "build", "--catalog", c.catalog, "--store", store, "--snapshot-time", wholeTime)
			flags := []string{"-views", c.views, "-seed", seed}
			w := worldOf(t, flags...)
			judge(t, w, serveStore(t, binary, store), append(flags, "-kinds", c.kinds, "-n", c.n)...)
			if c.name == "odd" || testkit.Long() && c.name != "files" && c.name != "large" {
				judgeChanges(t, w, binary, c.views, uint64(i))
			}
		})
	}
}

// judge sends requests about rows to a server.
func judge(t *testing.T, w *world, base string, flags ...string) {
	t.Helper()
	o := parse(append([]string{"-parallel", "4", "-base", base}, flags...))
	var out strings.Builder
	testkit.Is(t, o.check(w, &out), nil, "%q\n%s", flags, out.String())
	t.Log(strings.TrimSpace(out.String()))
}

// worldOf reads the rows that flags name.
func worldOf(t *testing.T, flags ...string) *world {
	t.Helper()
	return testkit.Value(parse(append([]string{"-snapshot-time", wholeTime}, flags...)).world())(t)
}

// judgeChanges compares the snapshot of dumps with that of a later edition.
func judgeChanges(t *testing.T, w *world, binary, views string, seed uint64) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	build := []string{"build", "--store", store, "--snapshot-time", wholeTime, "--allow-shrink", "--catalog"}
	command(t, binary, append(build, views)...)
	base := serveStore(t, binary, store, "--snapshot-poll", "50ms")
	since := snapshotOf(t, base)
	edition := laterEdition(t, views, seed)
	command(t, binary, append(build, edition)...)
	testkit.WaitFor(t, "the later edition", func() bool { return snapshotOf(t, base) != since })
	later := worldOf(t, "-views", edition)
	later.before, later.since = w, since
	judge(t, later, base, "-kinds", "changes", "-n", queries())
}

// snapshotOf is the id of the served snapshot.
func snapshotOf(t *testing.T, base string) string {
	t.Helper()
	c := testkit.Value(newClient(base))(t)
	got, err := c.send(request{Method: "GET", Path: pathPrefix + "metadata/sector?limit=0&app_identifier=" + goodOne})
	testkit.Must(t, err)
	return got.Headers.Get("X-Snapshot-Id")
}

// queries is how many requests are made of extensions and of changes.
func queries() string {
	if n := os.Getenv("HDQS_TEST_QUERIES"); n != "" {
		return n
	}
	return "200"
}

// TestJudgeFixtures judges the extensions on the real input, and changes between it and the same
// without some lines and with other digits in some. The rows of both are read from a server that
// has both.
func TestJudgeFixtures(t *testing.T) {
	fixtures := testkit.Fixtures(t)
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	binary := hdqsBinary(t)
	store, catalog := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "catalog")
	testkit.Must(t, os.CopyFS(catalog, os.DirFS(filepath.Join(fixtures, "catalog"))))
	build := []string{"build", "--catalog", catalog, "--store", store, "--snapshot-time"}
	command(t, binary, append(build, wholeTime)...)
	before := serveStore(t, binary, store, "--snapshot-poll", "1h")
	base := serveStore(t, binary, store, "--snapshot-poll", "50ms", "--keep-previous", "1h")
	since := snapshotOf(t, base)
	editLines(t, catalog)
	command(t, binary, append(build, "2026-11-23T00:00:00Z", "--allow-shrink")...) // rows and a few countries are gone
	testkit.WaitFor(t, "the edited snapshot", func() bool { return snapshotOf(t, base) != since })
	w := readServed(t, base, "")
	w.before, w.since = readServed(t, base, since), since
	judge(t, w.before, before, "-kinds", extensionKinds, "-n", queries(), "-seed", "27")
	judge(t, w, base, "-kinds", "changes", "-n", queries(), "-seed", "29")
}

// editLines removes some lines of a catalog's themes, and puts other digits into some.
func editLines(t *testing.T, catalog string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(catalog, "*", "*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Base(filepath.Dir(file)) == "reference" {
			continue
		}
		lines := strings.SplitAfter(string(testkit.ReadFile(t, file)), "\n")
		for i := 20; i < len(lines); i += 30 { // no cell has line ends
			lines[i] = ""
		}
		for i := 35; i < len(lines); i += 30 {
			lines[i] = otherEnd(lines[i])
		}
		testkit.WriteFile(t, file, []byte(strings.Join(lines, "")))
	}
}

// otherEnd replaces digits in the last two cells of a line of CSV.
func otherEnd(line string) string {
	at := max(0, strings.LastIndexByte(line, ','))
	at = max(0, strings.LastIndexByte(line[:at], ','))
	return line[:at] + strings.NewReplacer("1", "2", "3", "4", "5", "6").Replace(line[at:])
}

// hdqsBinary returns the program, built unless it was built before.
func hdqsBinary(t *testing.T) string {
	binary := os.Getenv("HDQS_BINARY")
	if binary == "" {
		binary = filepath.Join(t.TempDir(), "hdqs")
		command(t, "go", "build", "-o", binary, "./cmd/hdqs")
	}
	return binary
}

// command runs a program in the project's root and reports its output if it fails.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// serveStore starts the server on a free port and returns its URL.
func serveStore(t *testing.T, binary, store string, flags ...string) string {
	t.Helper()
	log := testkit.Value(os.Create(filepath.Join(t.TempDir(), "log")))(t)
	defer log.Close()
	cmd := exec.Command(binary, append([]string{"serve", "--store", store, "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Stdout, cmd.Stderr = log, log
	testkit.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	var found [][]byte
	testkit.WaitFor(t, "the server to listen, as "+log.Name()+" says", func() bool {
		found = listening.FindSubmatch(testkit.ReadFile(t, log.Name()))
		return found != nil
	})
	return string(found[1])
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)
