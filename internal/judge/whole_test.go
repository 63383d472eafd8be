package judge

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
)

// TestJudge judges the real binary on dumps of made-up data and on the same
// garbled; in the long form also on the small ones of testdata, the files that the
// made-up dumps are the joins of, and long tables. Each becomes a store, which is
// served and asked over HTTP and through the batch form of `hdqs query`.
// HDQS_BINARY names a binary built before.
func TestJudge(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	binary := hdqsBinary(t)
	generate := func(write func(string, generator.Options) ([]generator.Count, error), o generator.Options) string {
		dir := t.TempDir()
		if _, err := write(dir, o); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	made := generate(generator.WriteViews, generator.Options{Seed: 11})
	files := generate(generator.Write, generator.Options{Seed: 11})
	small, err := filepath.Abs("testdata/views")
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "odd")
	if err := run([]string{"garble", "-contract", contractFile, "-views", made, "-out", odd, "-seed", "23"},
		io.Discard); err != nil {
		t.Fatal(err)
	}
	var large string
	if testkit.Long() {
		large = generate(generator.WriteViews, generator.Options{Seed: 12, Scale: 0.01})
	}
	for _, c := range []struct {
		name, catalog, views string
		n                    int
		seed                 string
	}{
		{"made", made, made, testkit.Trials(2000, 400), "21"},
		// Joined by the loader, judged by the dumps of the same world.
		{"files", files, made, testkit.Trials(1500, 0), "24"},
		{"small", small, small, testkit.Trials(2000, 0), "22"},
		{"odd", odd, odd, testkit.Trials(1500, 400), "23"},
		// Tables longer than a page, and columns with more values than codes.
		{"large", large, large, testkit.Trials(800, 0), "25"},
	} {
		if c.n == 0 {
			continue // not in the short form
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			store := filepath.Join(t.TempDir(), "store")
			command(t, binary, "build", "--catalog", c.catalog, "--store", store, "--snapshot-time", wholeTime)
			base := serveStore(t, binary, store)
			w := worldOf(t, "-views", c.views)
			file := recordRequests(t, w, "-n", strconv.Itoa(c.n), "-seed", c.seed)
			var out bytes.Buffer
			if err := run([]string{"replay", "-base", base, "-parallel", "4", "-file", file}, &out); err != nil {
				t.Errorf("over HTTP: %v\n%s", err, out.String())
			}
			if c.name != "files" && c.name != "large" {
				judgeExtensions(t, w, base, c.seed)
				judgePages(t, w, base, c.seed)
				judgeChanges(t, w, binary, c.views, c.seed)
			}
			if c.name == "large" || c.name == "odd" {
				judgeTiers(t, w, binary, store)
			}
			if c.name == "large" {
				return // the batch takes the same path
			}
			if text := batch(t, binary, store, file); text != "" {
				t.Errorf("through the batch: %s", text)
			}
		})
	}
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

// judgeTiers judges servers with a fixed compression. Requests to the one with stored blocks are
// repeated: blocks are made little by little, and are used once most blocks of a page exist.
func judgeTiers(t *testing.T, w *world, binary, store string) {
	o, _, err := parse([]string{"check", "-n", "200", "-long", "60", "-seed", "26", "-parallel", "4"})
	if err != nil {
		t.Fatal(err)
	}
	var all []exchange
	if err := o.exchanges(w, func(x exchange) error { all = append(all, x); return nil }); err != nil {
		t.Fatal(err)
	}
	each := func(pass func(exchange) error) (err error) {
		for i := 0; i < len(all) && err == nil; i++ {
			err = pass(all[i])
		}
		return err
	}
	for _, c := range []struct {
		tier  string
		times int
	}{{"stored", 4}, {"pieces", 1}, {"whole", 1}} {
		o.base = serveStore(t, binary, store, "--compression", c.tier, "--body-cache", "0")
		for _, o.accept = range []string{"gzip", "zstd"} {
			for range c.times {
				var out bytes.Buffer
				if err := o.sendAll(&out, each, nil); err != nil {
					t.Errorf("%s, %s: %v\n%s", c.tier, o.accept, err, out.String())
				}
			}
		}
	}
}

// recordRequests writes requests, with the expected answers, to a file.
func recordRequests(t *testing.T, w *world, flags ...string) string {
	t.Helper()
	recording, err := runIn(t, w, options.record, flags...)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "recording.jsonl")
	if err := os.WriteFile(file, []byte(recording), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

const wholeTime = "2026-11-21T01:02:00Z"

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
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.Command(binary, append([]string{"serve", "--store", store, "--listen", "127.0.0.1:0"}, flags...)...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	var found [][]byte
	testkit.WaitFor(t, "the server to listen, as "+said.Name()+" says", func() bool {
		found = listening.FindSubmatch(testkit.ReadFile(t, said.Name()))
		return found != nil
	})
	return string(found[1])
}

var listening = regexp.MustCompile(`(?m)^listening on (http://\S+)$`)

// batch answers the same requests without a server and returns the differences.
func batch(t *testing.T, binary, store, file string) string {
	t.Helper()
	var requests, answers, differences bytes.Buffer
	if err := run([]string{"requests", "-file", file}, &requests); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "query", "--store", store, "--batch", "-")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &requests, &answers, os.Stderr
	if err := cmd.Run(); err != nil {
		return err.Error()
	}
	answersFile := filepath.Join(t.TempDir(), "answers.jsonl")
	if err := os.WriteFile(answersFile, answers.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"grade", "-file", file, "-answers", answersFile}, &differences); err != nil {
		return differences.String()
	}
	return ""
}
