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

	"golang.org/x/sys/unix"
)

// step is a call by which a traced program changes something below a directory: what it does, and to which kind of file.
type step struct{ call, kind string }

func (s step) String() string { return s.call + " " + s.kind }

// injection lets one call fail as a broken disk would: the nth, from 1, of a step. With no step none fails, and with no fault the program is killed
// before the call.
type injection struct {
	step
	nth   int
	fault syscall.Errno
}

// traced is what came of a program that was traced.
type traced struct {
	outcome
	steps  []step // in order
	failed bool   // the call that was to fail came
}

// calls that change files, and where their paths stand: -1 is none, and a descriptor is the first argument then.
var calls = map[uint64]struct {
	name string
	path int // argument with a path; the one before it is a directory's descriptor when at is set
	at   bool
}{
	unix.SYS_WRITE: {"write", -1, false}, unix.SYS_PWRITE64: {"write", -1, false}, unix.SYS_FSYNC: {"fsync", -1, false},
	unix.SYS_FTRUNCATE: {"truncate", -1, false}, unix.SYS_FCHMOD: {"chmod", -1, false}, unix.SYS_COPY_FILE_RANGE: {"copy", -2, false},
	unix.SYS_OPENAT: {"create", 1, true}, unix.SYS_MKDIRAT: {"mkdir", 1, true}, unix.SYS_UNLINKAT: {"unlink", 1, true},
	unix.SYS_RENAME: {"rename", 1, false}, unix.SYS_RENAMEAT: {"rename", 3, true}, unix.SYS_RENAMEAT2: {"rename", 3, true},
	unix.SYS_LINK: {"link", 1, false}, unix.SYS_LINKAT: {"link", 3, true}, unix.SYS_FCHMODAT: {"chmod", 1, true},
	unix.SYS_MKDIR: {"mkdir", 0, false}, unix.SYS_UNLINK: {"unlink", 0, false}, unix.SYS_CHMOD: {"chmod", 0, false},
}

// tracer follows all threads of one program. It lives on one thread, as ptrace wants it.
type tracer struct {
	pid    int
	below  string
	inject injection
	seen   map[step]int
	inside map[int]bool // threads between the entry of a call and its end
	fail   map[int]bool // of these, whose call is to fail
	result traced
}

// runTraced runs the program to its end and lets a call fail. Only calls that change what is below a directory are looked at.
func runTraced(t *testing.T, below string, inject injection, args ...string) traced {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said := [2]string{filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "errors")}
	files := []*os.File{nil}
	for _, name := range said {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files = append(files, f)
	}
	process, err := os.StartProcess(binary, append([]string{binary}, args...), &os.ProcAttr{
		// A program that is stopped at each of its calls does better without those of the collector and of preemption.
		Env: environment("GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1"), Files: files, Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	tr := &tracer{pid: process.Pid, below: below, inject: inject, seen: map[step]int{}, inside: map[int]bool{}, fail: map[int]bool{}}
	code, err := tr.follow()
	if err != nil {
		_ = process.Kill()
		t.Fatalf("tracing hdqs %s: %v", strings.Join(args, " "), err)
	}
	_ = process.Release()
	tr.result.outcome = outcome{code, string(readFile(t, said[0])), string(readFile(t, said[1]))}
	return tr.result
}

// follow lets the program run from call to call until it ends, and gives its exit code, -1 when it was killed.
func (tr *tracer) follow() (code int, err error) {
	pid := tr.pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return 0, err
	}
	options := unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return 0, err
	}
	if err := unix.PtraceSyscall(pid, 0); err != nil {
		return 0, err
	}
	for {
		// Its threads are a process group; other children are other tests' business.
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
		case stopped == unix.SIGTRAP|0x80:
			if err := tr.call(tid); err != nil && err != unix.ESRCH {
				return 0, err
			}
		case stopped == unix.SIGTRAP || stopped == unix.SIGSTOP: // a new thread, or its creation
		default:
			signal = int(stopped)
		}
		if err := unix.PtraceSyscall(tid, signal); err != nil && err != unix.ESRCH {
			return 0, err
		}
	}
}

// call is the entry of a call, or its end.
func (tr *tracer) call(tid int) error {
	if tr.inside[tid] = !tr.inside[tid]; tr.inside[tid] {
		return tr.entry(tid)
	}
	if !tr.fail[tid] {
		return nil
	}
	delete(tr.fail, tid)
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rax = -uint64(tr.inject.fault)
	return unix.PtraceSetRegs(tid, &r)
}

func (tr *tracer) entry(tid int) error {
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
	tr.fail[tid] = true
	r.Orig_rax = ^uint64(0) // no such call: nothing happens
	return unix.PtraceSetRegs(tid, &r)
}

// descriptor is the file behind a descriptor of a thread.
func descriptor(tid int, fd uint64) string {
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(fd)))
	return path
}

// text is a path in the memory of a stopped thread.
func text(tid int, at uint64) string {
	b := make([]byte, 4096)
	n, _ := unix.PtracePeekData(tid, uintptr(at), b)
	end := bytes.IndexByte(b[:n], 0)
	return string(b[:max(end, 0)])
}

// kinds of files: names without what differs from run to run or from file to file.
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
