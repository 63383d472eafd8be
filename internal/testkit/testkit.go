// Package testkit has the small parts that tests of several packages need: files, waiting, keys,
// logs of processes, and input that not every machine has.
package testkit

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Patience is how long a test waits without any sign of progress. No load of the machine makes one
// step take so long; what does is a fault. -timeout ends a test earlier.
const Patience = 10 * time.Minute

// WaitFor polls until a condition holds, and fails the test after Patience.
func WaitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %s for %s", Patience, what)
		}
	}
}

// Must fails the test if there is an error. Without one it costs nothing, as benchmarks call it
// too: Helper alone takes 100 ns.
func Must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Value is the value of a call that must not fail: Value(f())(t).
func Value[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Must(t, err)
		return value
	}
}

// Equal is an error of a test, with what it is about, unless got is what is wanted.
func Equal[T comparable](t testing.TB, got, want T, about string, args ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%s:\n got %+v\nwant %+v", fmt.Sprintf(about, args...), got, want)
	}
}

// EqualLists is Equal of lists.
func EqualLists[T comparable](t testing.TB, got, want []T, about string, args ...any) {
	if !slices.Equal(got, want) {
		t.Helper()
		t.Errorf("%s:\n got %+v\nwant %+v", fmt.Sprintf(about, args...), got, want)
	}
}

// AtLeast is an error of a test if a number, such as that of cases that ran, is too small.
func AtLeast[T cmp.Ordered](t testing.TB, got, least T, about string, args ...any) {
	if got < least {
		t.Helper()
		t.Errorf("%s: got %v, want %v or more", fmt.Sprintf(about, args...), got, least)
	}
}

// Is is an error of a test unless got is, or wraps, the error that is wanted.
func Is(t testing.TB, got, want error, about string, args ...any) {
	if !errors.Is(got, want) {
		t.Helper()
		t.Errorf("%s: got the error %v, want %v", fmt.Sprintf(about, args...), got, want)
	}
}

// Fails is Is of a call: Fails(f())(t, want, about).
func Fails[T any](_ T, got error) func(t testing.TB, want error, about string, args ...any) {
	return func(t testing.TB, want error, about string, args ...any) {
		t.Helper()
		Is(t, got, want, about, args...)
	}
}

// Contains is an error of a test unless a text has a part.
func Contains[T ~string | ~[]byte](t testing.TB, text T, part, about string, args ...any) {
	if !strings.Contains(string(text), part) {
		t.Helper()
		t.Errorf("%s: no %q in %.3000s", fmt.Sprintf(about, args...), part, text)
	}
}

// Lacks is an error of a test if a text has a part.
func Lacks[T ~string | ~[]byte](t testing.TB, text T, part, about string, args ...any) {
	if strings.Contains(string(text), part) {
		t.Helper()
		t.Errorf("%s: %q in %.3000s", fmt.Sprintf(about, args...), part, text)
	}
}

// ReadFile reads a file whole.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	return Value(os.ReadFile(path))(t)
}

// Cases reads cases from a text file: one on each line that is not empty and does not begin with #,
// and each in so many parts between separators.
func Cases(t testing.TB, path, separator string, parts int) (cases [][]string) {
	t.Helper()
	for line := range strings.Lines(string(ReadFile(t, path))) {
		if line = strings.TrimRight(line, "\r\n"); line == "" || line[0] == '#' {
			continue
		}
		c := strings.SplitN(line, separator, parts)
		if len(c) < parts {
			t.Fatalf("%s: %q has %d parts, want %d between %q", path, line, len(c), parts, separator)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatalf("%s has no cases", path)
	}
	return cases
}

// WriteFile writes a file and makes the folders above it.
func WriteFile(t testing.TB, path string, data []byte) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	Must(t, os.WriteFile(path, data, 0o644))
}

// ReplaceFile puts a new file in another's place in one step, as every careful writer does.
func ReplaceFile(t testing.TB, path string, data []byte) {
	t.Helper()
	WriteFile(t, path+".new", data)
	Must(t, os.Rename(path+".new", path))
}

// SigningKey makes a key that signs, and the public keys of readers that trust it.
func SigningKey(t testing.TB) (ed25519.PrivateKey, []ed25519.PublicKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return private, []ed25519.PublicKey{public}
}

// Log collects what a process writes. It can be read while the process runs.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns what has been written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Program returns the path of a program, or skips the test and names the Debian package to install.
func Program(t testing.TB, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath(filepath.Join("/usr/sbin", name)) // not in everybody's PATH
	}
	if err != nil {
		t.Skipf("%s is not installed (Debian package %s)", name, debianPackage)
	}
	return path
}

// ShortJava, in the environment, makes Java compile quickly and optimise less, which takes a third
// of the CPU of a program that runs for seconds. Such code needs a larger stack.
const ShortJava = "JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss8m"

// Fixtures returns the folder of real input files, or skips the test. They are not ours to publish:
// a folder beside the repository holds them. Tests that call this have "Fixture" in their names.
func Fixtures(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs(".")
	for err == nil && !isFile(filepath.Join(root, "go.mod")) && root != filepath.Dir(root) {
		root = filepath.Dir(root)
	}
	dir := filepath.Join(root, "..", "shared", "fixtures")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the real input files are not beside the repository, in ../shared/fixtures")
	}
	return dir
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Long reports whether tests run in their long form, as `make soak` has them run.
func Long() bool { return os.Getenv("HDQS_TEST_LONG") != "" }

// Seed starts random numbers: the same each time, so that a failure is one of the change that is
// tested. The long form has another one each time.
func Seed() uint64 {
	if Long() {
		return uint64(time.Now().UnixNano())
	}
	return 1
}

// Random are random numbers of a test, which logs where they start.
func Random(t testing.TB) *rand.Rand {
	seed := Seed()
	t.Logf("the random numbers of %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// Trials returns how often something is repeated: all times in the long form, and fewer elsewhere.
func Trials(all, fewer int) int {
	if Long() {
		return all
	}
	return fewer
}

var ownHosts atomic.Uint32

// OwnHost returns an address of the loopback interface that nothing else uses: it differs from
// process to process and from call to call. So a port of it stays free until the test takes it,
// also while what listens there is started again.
func OwnHost() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 100+pid>>7&0x7f, pid&0x7f, 1+ownHosts.Add(1)%254)
}

// FreeAddress returns an address of its own with a free port, for programs that must be told one.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(OwnHost(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// RunListening starts a program and waits until it takes connections at an address. The program is
// ended with the test; if that has failed, its messages are logged.
func RunListening(t testing.TB, address string, command *exec.Cmd) {
	t.Helper()
	log := new(Log)
	command.Stdout, command.Stderr = log, log
	Must(t, command.Start())
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // it is ended
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt) // it may have ended; varnishd ends its child
		<-ended
		if t.Failed() {
			text := log.String()
			t.Logf("%s: %s", command.Path, text[:min(len(text), 3000)])
		}
	})
	WaitFor(t, filepath.Base(command.Path)+" to listen", func() bool {
		select {
		case <-ended:
			t.Fatalf("%s ended: %v\n%s", command.Path, command.ProcessState, log)
		default:
		}
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
}

// ChangeCSV changes the records of a CSV file: change gets the cells by the names in the header,
// and returns false for a record that is left out.
func ChangeCSV(t testing.TB, path string, change func(cell func(name string) *string) bool) {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(ReadFile(t, path))).ReadAll()
	Must(t, err)
	kept := all[:1]
	for _, record := range all[1:] {
		if change(func(name string) *string { return &record[slices.Index(all[0], name)] }) {
			kept = append(kept, record)
		}
	}
	var text bytes.Buffer
	Must(t, csv.NewWriter(&text).WriteAll(kept))
	WriteFile(t, path, text.Bytes())
}
