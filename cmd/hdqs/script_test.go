package main_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"hdqs/internal/generator"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// TestScripts runs the scripts of testdata/scripts: what is typed, and what comes back. Package
// testscript has their language, scriptCommands the commands that are added to it.
func TestScripts(t *testing.T) {
	parallel(t)
	runScripts(t, "scripts")
}

// TestBucketScripts runs those of testdata/bucket, which need an S3 server.
func TestBucketScripts(t *testing.T) {
	t.Parallel()
	runScripts(t, "bucket")
}

// TestFixtureScripts runs those of testdata/fixtures, which need the real input.
func TestFixtureScripts(t *testing.T) {
	parallel(t)
	testkit.Fixtures(t)
	runScripts(t, "fixtures")
}

// story is a script that runs.
type story struct {
	*testing.T
	script  *testscript.TestScript
	servers map[string]*server
	webs    map[string]*webServer
	objects *objectStore
	paused  chan struct{} // closed when a request waits
	resumed chan struct{} // closed when it may go on
}

// scriptT is a test as testscript takes it.
type scriptT struct{ *testing.T }

func (t scriptT) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(scriptT{t}) })
}

func (t scriptT) Verbose() bool { return testing.Verbose() }

type storyKey struct{}

// runScripts runs the scripts of a folder. HDQS is the program, IDENTIFIER one of an application,
// ROOT this repository.
func runScripts(t *testing.T, folder string) {
	root := testkit.Value(filepath.Abs("../.."))(t)
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for name, command := range scriptCommands {
		commands[name] = func(ts *testscript.TestScript, not bool, args []string) {
			s := ts.Value(storyKey{}).(*story)
			s.script = ts
			if holds := command(s, args); holds == not {
				ts.Fatalf("%s %s: %t", name, strings.Join(args, " "), holds)
			}
		}
	}
	testscript.RunT(scriptT{t}, testscript.Params{
		Dir: filepath.Join("testdata", folder), Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, environment("HDQS="+binary, "IDENTIFIER="+identifier, "ROOT="+root)...)
			env.Values[storyKey{}] = &story{
				T: env.T().(scriptT).T, servers: map[string]*server{}, webs: map[string]*webServer{},
			}
			return nil
		},
	})
}

// scriptCommands are the commands of scripts. Each reports whether it holds: after "!" it must not.
// Where one takes a NAME, it sets that variable, or uses the server that has the name.
var scriptCommands = map[string]func(s *story, args []string) bool{
	"hdqs":     (*story).hdqs,     // ARG...: the program exits with 0
	"exits":    (*story).exits,    // CODE ARG...: the program exits with the code
	"bounded":  (*story).bounded,  // CODE MB ARG...: exits, and takes at most so much memory
	"until":    (*story).until,    // PATTERN ARG...: before long the program prints what matches
	"unfit":    (*story).unfit,    // NAME STORE LIKE: the id of a new snapshot that no server can serve
	"catalog":  (*story).catalog,  // NAME OPTION...: a generated catalog, or the embedded one
	"store":    (*story).store,    // NAME OPTION...: a store of a generated catalog, or of the fixtures
	"change":   (*story).change,   // CATALOG ROLE: other figures in the files of a role
	"spoil":    (*story).spoil,    // CATALOG: a part of it cannot be used any more
	"web":      (*story).web,      // NAME FOLDER [sizeless]: a web server, whose address is in NAME
	"site":     (*story).site,     // NAME CATALOG: a CKAN site, whose address is in NAME
	"close":    (*story).close,    // NAME: the web server or site is gone
	"hang":     (*story).hang,     // NAME on|off: the web server does not answer
	"deaf":     (*story).deaf,     // NAME: an address where connections are accepted, and nobody reads
	"fault":    (*story).fault,    // NAME PATH STATUS|off [TEXT]: its answers for paths that begin so, or a file
	"once":     (*story).onceOnly, // NAME PATH STATUS: so it answers the first request for a file of a site
	"modified": (*story).modified, // NAME PATH TIME: when the site says that a file was changed
	"asked":    (*story).asked,    // NAME PATTERN: a path that the web server was asked for matches
	"bucket":   (*story).bucket,   // an S3 server with the bucket "data", for all commands that follow
	"objects":  (*story).list,     // PREFIX: the names of objects are stdout
	"put":      (*story).put,      // OBJECT FILE: as someone else with the bucket's keys could
	"get":      (*story).get,      // OBJECT FILE
	"upload":   (*story).upload,   // FOLDER STORE: the segments and manifests that the folder of the bucket lacks
	"download": (*story).download, // PREFIX FOLDER: all objects whose names begin so
	"offline":  (*story).offline,  // on|off: connections to the S3 server break
	"requests": (*story).requests, // the requests since the last time are stdout, each "METHOD path"
	"pause":    (*story).pause,    // PART: holds the first PUT to a path with the part
	"paused":   (*story).isPaused, // such a request waits
	"resume":   (*story).resume,   // it may go on
	"cells":    (*story).cells,    // FILE COLUMN=VALUE drop|COLUMN=TEXT|COLUMN+=TEXT: in the rows with the value
	"damage":   (*story).damage,   // PATTERN flip|cut|TEXT: the first file that matches has other bytes
	"files":    (*story).files,    // COUNT PATTERN: so many files match
	"tree":     (*story).tree,     // NAME FOLDER: the content of all files but locks, as one text
	"digests":  (*story).digests,  // STORE: a line for each list is stdout, with the digest of its rows
	"snapshot": (*story).snapshot, // NAME STORE [CHANNEL]: the id that a channel shows
	"segment":  (*story).segment,  // NAME STORE TABLE: the file of a table
	"last":     (*story).last,     // NAME: the last line of stdout
	"equal":    (*story).equal,    // TEXT TEXT
	"logged":   (*story).logged,   // NAME TEXT: the server has logged it
	"serve":    (*story).serve,    // NAME FLAG...: a server, whose addresses are in NAME, NAME_HOST and NAME_ADMIN
	"start":    (*story).start,    // NAME FLAG...: a server of which only the admin listener is open
	"polls":    (*story).polls,    // NAME COUNT: the server polls its store so often
	"hangup":   (*story).hangup,   // NAME TEXT: SIGHUP, after which the server logs the text once more
	"await":    (*story).await,    // NAME TEXT: the server logs it before long
	"signal":   (*story).signal,   // NAME: sends the server SIGHUP
	"kill9":    (*story).kill9,    // NAME: SIGKILL
	"drain":    (*story).drain,    // NAME: SIGTERM
	"ended":    (*story).ended,    // NAME CODE: the server exits with the code
	"ends":     (*story).ends,     // NAME CODE: SIGTERM, after which the server exits with the code
	"heads":    (*story).heads,    // URL FIELD: before long the header of the answer has the field
	"ask":      (*story).ask,      // STATUS URL [NAME:VALUE]...: the body is stdout, with a line end; the header stderr
	"becomes":  (*story).becomes,  // URL|FILE TEXT: before long the body at the address, or the file, has the text
}

func (s *story) hdqs(args []string) bool { return s.exits(append([]string{"0"}, args...)) }

func (s *story) exits(args []string) bool {
	err := s.script.Exec(binary, args[1:]...)
	exit, failed := errors.AsType[*exec.ExitError](err)
	if !failed {
		s.script.Check(err)
		return args[0] == "0"
	}
	s.script.Logf("exit code %d", exit.ExitCode())
	return args[0] == strconv.Itoa(exit.ExitCode())
}

func (s *story) bounded(args []string) bool {
	self, err := os.Executable()
	testkit.Must(s.T, err)
	file := s.script.MkAbs("peak")
	s.script.Setenv(measureFile, file)
	defer s.script.Setenv(measureFile, "")
	err = s.script.Exec(self, append([]string{binary}, args[2:]...)...)
	exit, _ := errors.AsType[*exec.ExitError](err)
	code := 0
	if exit != nil {
		code = exit.ExitCode()
	}
	peak, most := mustNumber(s.T, s.script.ReadFile(file)), mustNumber(s.T, args[1])
	s.script.Logf("exit code %d, %d MB", code, peak>>20)
	return code == mustNumber(s.T, args[0]) && (peak>>20 <= most || raceDetector)
}

func (s *story) until(args []string) bool {
	pattern := regexp.MustCompile(args[0])
	testkit.WaitFor(s.T, args[0], func() bool {
		_ = s.exits(append([]string{"0"}, args[1:]...)) // any exit code
		return pattern.MatchString(s.script.ReadFile("stdout"))
	})
	return true
}

func (s *story) unfit(args []string) bool {
	s.script.Setenv(args[0], putUnfit(s.T, s.script.MkAbs(args[1]), args[2]))
	return true
}

// options reads options of catalogs: small, seed=N, edited=N, scale=N and roles=A,B.
func (s *story) options(args []string) generator.Options {
	o := generator.Options{Seed: 1}
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		n, _ := strconv.ParseFloat(value, 64) // of roles it is not used
		switch name {
		case "small":
			o.Small = true
		case "seed":
			o.Seed = uint64(n)
		case "edited":
			o.Edited = int(n)
		case "scale":
			o.Scale = n
		case "roles":
			o.Roles = strings.Split(value, ",")
		default:
			s.script.Fatalf("a catalog has no option %q", arg)
		}
	}
	return o
}

func (s *story) catalog(args []string) bool {
	dir := ""
	if len(args) > 1 && args[1] == "embedded" {
		dir = embeddedCatalog(s.T)
	} else {
		dir = newCatalogOf(s.T, s.options(args[1:]))
	}
	s.script.Setenv(args[0], dir)
	return true
}

func (s *story) store(args []string) bool {
	if len(args) > 1 && args[1] == "fixtures" {
		s.script.Setenv(args[0], fixtureStore(s.T))
	} else {
		s.script.Setenv(args[0], newStoreOf(s.T, s.options(args[1:])))
	}
	return true
}

func (s *story) change(args []string) bool {
	changeRows(s.T, args[0], args[1])
	return true
}

func (s *story) cells(args []string) bool {
	where, value, _ := strings.Cut(args[1], "=")
	column, text, isChange := strings.Cut(args[2], "=")
	column, isMore := strings.CutSuffix(column, "+")
	testkit.ChangeCSV(s.T, s.script.MkAbs(args[0]), func(cell func(string) *string) bool {
		switch {
		case *cell(where) != value:
		case isMore:
			*cell(column) += text
		case isChange:
			*cell(column) = text
		default:
			return false
		}
		return true
	})
	return true
}

func (s *story) damage(args []string) bool {
	path := pathOf(s.T, "", s.script.MkAbs(args[0]))
	change(s.T, path, func(data []byte) []byte {
		switch args[1] {
		case "flip":
			return flipBit(len(data) / 2)(data)
		case "cut":
			return truncate(data)
		}
		return []byte(args[1] + "\n")
	})
	return true
}

func (s *story) spoil(args []string) bool {
	spoil(s.T, args[0])
	return true
}

func (s *story) files(args []string) bool {
	found, err := filepath.Glob(s.script.MkAbs(args[1]))
	s.script.Check(err)
	if len(found) != mustNumber(s.T, args[0]) {
		s.script.Logf("%q", found)
		return false
	}
	return true
}

func mustNumber(t *testing.T, text string) int {
	t.Helper()
	n := testkit.Value(strconv.Atoi(text))(t)
	return n
}

func (s *story) tree(args []string) bool {
	sum, all := sha256.New(), stored(s.T, s.script.MkAbs(args[1]))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if filepath.Base(name) != "lock" {
			fmt.Fprintf(sum, "%s %d\n%s", name, len(all[name].data), all[name].data)
		}
	}
	s.script.Setenv(args[0], fmt.Sprintf("%x", sum.Sum(nil)))
	return true
}

func (s *story) digests(args []string) bool {
	fmt.Fprint(s.script.Stdout(), listDigests(s.T, s.script.MkAbs(args[0])))
	return true
}

func (s *story) snapshot(args []string) bool {
	command := []string{"0", "inspect", "--json", "--store", args[1]}
	if len(args) > 2 {
		command = append(command, "--channel", args[2])
	}
	if !s.exits(command) {
		return false
	}
	s.script.Setenv(args[0], decode[snapshotView](s.T, []byte(s.script.ReadFile("stdout"))).ID)
	return true
}

func (s *story) segment(args []string) bool {
	s.script.Setenv(args[0], segmentOf(s.T, s.script.MkAbs(args[1]), args[2]))
	return true
}

func (s *story) last(args []string) bool {
	lines := strings.Split(strings.TrimSpace(s.script.ReadFile("stdout")), "\n")
	s.script.Setenv(args[0], lines[len(lines)-1])
	return true
}

func (s *story) equal(args []string) bool { return args[0] == args[1] }

func putUnfit(t *testing.T, dir, like string) string {
	t.Helper()
	st := testkit.Value(store.Open(dir))(t)
	m, err := st.Snapshots.Manifest(like)
	testkit.Must(t, err)
	unfit := *m
	unfit.ID, unfit.SnapshotTime, unfit.Tables = "unfit", time.Now(), slices.Clone(m.Tables)
	at := slices.IndexFunc(unfit.Tables, func(r store.SegmentRef) bool { return r.Table == "idps" })
	unfit.Tables[at], err = st.Segments.PutSegment(&snapshot.TableData{
		Name: "idps", Rows: 1, Columns: []snapshot.ColumnData{{Name: "n", Kind: snapshot.Int, Ints: []int64{1}}},
	})
	testkit.Must(t, err)
	testkit.Must(t, st.Snapshots.PutManifest(&unfit))
	return unfit.ID
}

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
