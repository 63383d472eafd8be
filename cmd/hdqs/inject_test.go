//go:build linux && amd64

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"hdqs/internal/testkit"
)

// step is a call by which a traced program changes a kind of file below a directory.
type step struct{ call, kind string }

func (s step) String() string { return s.call + " " + s.kind }

// injection makes one call fail as on a broken disk: the nth of a step, from 1. Without a step none
// fails, and without a fault the program is killed before the call.
type injection struct {
	step
	nth   int
	fault syscall.Errno
}

// traced is the result of a traced program.
type traced struct {
	cmdResult
	steps  []step // in order
	failed bool   // the program reached the call that was to fail
}

// calls are those that change files, with the argument that holds the path. For -1 it is the
// descriptor in the first argument, for -2 that in the third.
var calls = map[uint64]struct {
	name string
	path int // index of the argument; with at set the one before it is a directory's descriptor
	at   bool
}{
	unix.SYS_WRITE:           {"write", -1, false},
	unix.SYS_PWRITE64:        {"write", -1, false},
	unix.SYS_FSYNC:           {"fsync", -1, false},
	unix.SYS_FTRUNCATE:       {"truncate", -1, false},
	unix.SYS_FCHMOD:          {"chmod", -1, false},
	unix.SYS_COPY_FILE_RANGE: {"copy", -2, false},
	unix.SYS_OPENAT:          {"create", 1, true},
	unix.SYS_MKDIRAT:         {"mkdir", 1, true},
	unix.SYS_UNLINKAT:        {"unlink", 1, true},
	unix.SYS_RENAME:          {"rename", 1, false},
	unix.SYS_RENAMEAT:        {"rename", 3, true},
	unix.SYS_RENAMEAT2:       {"rename", 3, true},
	unix.SYS_LINK:            {"link", 1, false},
	unix.SYS_LINKAT:          {"link", 3, true},
	unix.SYS_FCHMODAT:        {"chmod", 1, true},
	unix.SYS_MKDIR:           {"mkdir", 0, false},
	unix.SYS_UNLINK:          {"unlink", 0, false},
	unix.SYS_CHMOD:           {"chmod", 0, false},
}

// tracer follows all threads of one program. ptrace requires that it runs on one thread.
type tracer struct {
	pid    int
	below  string
	inject injection
	seen   map[step]int
	result traced
}

// tracedVariable is the environment variable that makes the test binary start the program that its
// arguments name. From then on the calls that change files, and no others, stop it for its tracer.
const tracedVariable = "HDQS_TEST_TRACED"

func init() {
	if os.Getenv(tracedVariable) != "" {
		fmt.Fprintln(os.Stderr, startTraced())
		os.Exit(1)
	}
}

func startTraced() error {
	statement := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	filter := []unix.SockFilter{statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0)} // the number of the call
	for number := range calls {
		unlessEqual := statement(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, uint32(number))
		unlessEqual.Jf = 1
		filter = append(filter, unlessEqual, statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_TRACE))
	}
	filter = append(filter, statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // the filter is of this thread, and of the program that it starts
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	if err != nil {
		return err
	}
	// One thread at a time, so that the calls keep their order.
	return unix.Exec(os.Args[1], os.Args[1:], environment("GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1"))
}

// runTraced runs the program to its end and makes a call fail. It looks only at calls that change
// files below a directory.
func runTraced(t *testing.T, below string, inject injection, args ...string) traced {
	t.Helper()
	self := testkit.Value(os.Executable())(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := t.TempDir()
	said := [2]string{filepath.Join(dir, "out"), filepath.Join(dir, "errors")}
	files := []*os.File{nil}
	for _, name := range said {
		f := testkit.Value(os.Create(name))(t)
		defer f.Close()
		files = append(files, f)
	}
	process, err := os.StartProcess(self, append([]string{self, binary}, args...), &os.ProcAttr{
		Env:   environment(tracedVariable + "=1"),
		Files: files,
		Sys:   &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	testkit.Must(t, err)
	tr := &tracer{pid: process.Pid, below: below, inject: inject, seen: map[step]int{}}
	code, err := tr.follow()
	if err != nil {
		_ = process.Kill()
		t.Fatalf("tracing hdqs %s: %v", strings.Join(args, " "), err)
	}
	_ = process.Release()
	tr.result.cmdResult = cmdResult{code, string(testkit.ReadFile(t, said[0])), string(testkit.ReadFile(t, said[1]))}
	return tr.result
}

// follow runs the program from stop to stop until it ends, and returns its exit code, or -1 if it
// was killed.
func (tr *tracer) follow() (code int, err error) {
	pid := tr.pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return 0, err
	}
	options := unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return 0, err
	}
	if err := unix.PtraceCont(pid, 0); err != nil {
		return 0, err
	}
	for {
		// Its threads are a process group. Other children belong to other tests.
		tid, err := unix.Wait4(-pid, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case status.Exited() || status.Signaled():
			if tid == pid {
				return status.ExitStatus(), nil
			}
			continue
		}
		signal := 0
		switch stopped := status.StopSignal(); {
		case status.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
			if err := tr.call(tid); err != nil && err != unix.ESRCH {
				return 0, err
			}
		case stopped == unix.SIGTRAP || stopped == unix.SIGSTOP: // a new thread, or its creation
		default:
			signal = int(stopped)
		}
		if err := unix.PtraceCont(tid, signal); err != nil && err != unix.ESRCH {
			return 0, err
		}
	}
}

// call handles a call that is about to be made.
func (tr *tracer) call(tid int) error {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	c, ok := calls[r.Orig_rax]
	if !ok {
		return nil
	}
	arguments := [...]uint64{r.Rdi, r.Rsi, r.Rdx, r.R10}
	if c.name == "create" && arguments[2]&(unix.O_CREAT|unix.O_WRONLY|unix.O_RDWR) == 0 {
		return nil
	}
	var path string
	switch {
	case c.path == -1:
		path = descriptor(tid, arguments[0])
	case c.path == -2:
		path = descriptor(tid, arguments[2])
	default:
		path = text(tid, arguments[c.path])
		if c.at && !filepath.IsAbs(path) {
			path = filepath.Join(descriptor(tid, arguments[c.path-1]), path)
		}
	}
	rel, err := filepath.Rel(tr.below, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return nil
	}
	s := step{c.name, kindOf(rel)}
	tr.result.steps = append(tr.result.steps, s)
	tr.seen[s]++
	if s != tr.inject.step || tr.seen[s] != tr.inject.nth {
		return nil
	}
	tr.result.failed = true
	if tr.inject.fault == 0 {
		return unix.Kill(tr.pid, unix.SIGKILL)
	}
	r.Orig_rax = ^uint64(0) // no such call, so that nothing happens
	r.Rax = -uint64(tr.inject.fault)
	return unix.PtraceSetRegs(tid, &r)
}

// descriptor returns the path of a thread's open file.
func descriptor(tid int, fd uint64) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(fd)))
	return path
}

// text reads a string from the memory of a stopped thread.
func text(tid int, at uint64) string {
	b := make([]byte, 4096)
	n, _ := unix.PtracePeekData(tid, uintptr(at), b)
	end := bytes.IndexByte(b[:n], 0)
	return string(b[:max(end, 0)])
}

// kinds removes from file names what differs between runs or files.
var kinds = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`[0-9a-f]{12,}`), "#"},
	{regexp.MustCompile(`\b20\d{6}T\d{6}Z`), "@"},
	{regexp.MustCompile(`(\.tree-)\d+`), "$1"},
	{regexp.MustCompile(`(tree-?)/.+`), "$1/*"},
}

func kindOf(path string) string {
	for _, k := range kinds {
		path = k.is.ReplaceAllString(path, k.as)
	}
	return path
}
