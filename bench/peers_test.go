package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/bench/load"
	"hdqs/internal/testkit"
)

// TestMain makes this binary the program itself if its first argument is a command, and the server
// that tests start if BENCH_LISTEN says where it listens: it answers records in the form
// BENCH_FORM.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		main()
		return
	}
	listen := os.Getenv("BENCH_LISTEN")
	if listen == "" {
		os.Exit(m.Run())
	}
	body := map[string]string{
		"list": `{"data":[{"a":1,"b":"x"}]}`, "bare": `[{"a":1,"b":"x"}]`,
		"columns": `{"columns":["b","a"],"rows":[["x",1]]}`, "other": `[{"a":2,"b":"x"}]`,
	}[os.Getenv("BENCH_FORM")]
	if body == "" {
		fmt.Fprintln(os.Stderr, "no such form")
		os.Exit(3)
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe(listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Total-Count", "1000000")
		fmt.Fprint(w, body)
	})))
	os.Exit(1)
}

// fake is the command of a server that answers in a form.
func fake(t *testing.T, listen, form string) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "env BENCH_LISTEN=" + listen + " BENCH_FORM=" + form + " " + exe
}

func TestServersAreStartedAndStopped(t *testing.T) {
	t.Parallel()
	q := load.Query{Weight: 1, Name: "q", Target: "/", Status: 200}
	p, err := launch(&load.Server{Name: "fake"}, "", fake(t, "127.0.0.1:{port}", "list"), q, testkit.Patience)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.settle(testkit.Patience); err != nil {
		t.Error(err)
	}
	if err := p.Answers(q); err != nil {
		t.Error(err)
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if p.Answers(q) == nil {
		t.Error("the stopped server still answers")
	}
	begun := time.Now()
	_, err = launch(&load.Server{Name: "fake"}, "", fake(t, "{listen}", "strange"), q, testkit.Patience)
	if err == nil || !strings.Contains(err.Error(), "no such form") || time.Since(begun) > testkit.Patience/2 {
		t.Errorf("after %v: %v", time.Since(begun), err)
	}
}

// TestPeersAreCompared runs the command with peers that give the same records in other forms, and
// with one whose records differ.
func TestPeersAreCompared(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mix := write("mix.txt", "1 q /\n")
	write("translation.txt", "query q\npost /sql\nsql SELECT 1\n")
	run := func(name, peers string) error {
		return comparePeers(flag.NewFlagSet("peers", flag.ContinueOnError), []string{
			"--start", fake(t, "{listen}", "list"), "--mix", mix, "--peers", write(name+".txt", peers),
			"--out", dir, "--json", dir, "--name", name, "--rounds", "2", "--burst", "30ms",
		})
	}
	t.Run("same records", func(t *testing.T) {
		t.Parallel()
		peers := "# comment\nbare translation.txt " + fake(t, "127.0.0.1:{port}", "bare") + "\n\n" +
			"columns - " + fake(t, "{listen}", "columns") + "\n"
		if err := run("alike", peers); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "alike.json"))
		if err != nil {
			t.Fatal(err)
		}
		var report load.Report
		if err := json.Unmarshal(text, &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Cells) != 4 || len(report.Standings) != 1 || report.Standings[0].Rate.Median == 0 ||
			len(report.Memory) != 3 || len(report.Pictures) < 2 {
			t.Errorf("%+v", report)
		}
		for _, name := range append(report.Pictures, "alike.md") {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("other records", func(t *testing.T) {
		t.Parallel()
		err := run("unlike", "other - "+fake(t, "{listen}", "other")+"\n")
		if err == nil || !strings.Contains(err.Error(), "not compared") {
			t.Errorf("got %v, want a refusal to compare", err)
		}
	})
	t.Run("bad lists", func(t *testing.T) {
		t.Parallel()
		for name, peers := range map[string]string{"short": "name -\n", "untranslated": "name absent.txt command\n"} {
			if err := run(name, peers); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		err := comparePeers(flag.NewFlagSet("peers", flag.ContinueOnError), []string{
			"--peers", filepath.Join(dir, "absent.txt"), "--mix", mix, "--start", "x",
		})
		if !errors.Is(err, os.ErrNotExist) {
			t.Errorf("no list of peers: %v", err)
		}
	})
}

func TestPeersFileReads(t *testing.T) {
	peers, err := readPeers("peers/peers.txt")
	if err != nil || len(peers) != 5 {
		t.Fatalf("%+v, %v", peers, err)
	}
	c := peerExperiment{list: "peers/peers.txt"}
	for _, p := range peers {
		if _, err := c.server(p); err != nil {
			t.Error(err)
		}
	}
}

// TestQuestionsBecomeSQL checks the SQL that the Python servers make of parameters.
func TestQuestionsBecomeSQL(t *testing.T) {
	t.Parallel()
	const program = `
from events import CSV_FIELDS, FIELDS, Question
mark = lambda i, kind: f"{{p{i}:{kind}}}"
print(Question().where(mark))
print(Question(limit=5, offset=7).where(mark, order=""))
print(Question(location_code="mli", event_type="riots", start_date="2024-01-02", end_date="2024-02-03", limit=9).where(mark))
print(Question(admin1_name="BaR", has_hrp=False).where(lambda i, kind: "?", order=""))
print(len(FIELDS), CSV_FIELDS[-1])
`
	const want = `('WHERE id >= 0 AND id < 10000 ORDER BY id', [])
('WHERE id >= 7 AND id < 12 ', [])
('WHERE location_code = {p0:String} AND event_type = {p1:String} AND reference_period_end >= {p2:String} AND reference_period_start <= {p3:String} ORDER BY id LIMIT 9 OFFSET 0', ['MLI', 'riots', '2024-01-02T00:00:00', '2024-02-03T23:59:59'])
('WHERE (unit_name LIKE ? OR provider_name LIKE ?) AND has_hrp = ?  LIMIT 10000 OFFSET 0', ['%bar%', '%bar%', False])
13 reference_period_end_csv AS reference_period_end
`
	python := exec.Command("python3", "-B", "-c", program)
	python.Dir = "peers"
	var messages strings.Builder // a wrapper script may print warnings about the locale
	python.Stderr = &messages
	got, err := python.Output()
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s\n%s", err, got, want, messages.String())
	}
}
