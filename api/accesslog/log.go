// Package accesslog writes one line of JSON for each request, without delaying requests.
//
// A line is built by the goroutine of its request, in reused memory, and written by another one. At
// most maxWaiting lines wait; with more, or when writing fails, lines are dropped and counted. A
// line has values of fixed lists, numbers, the canonical query and a keyed hash of the name of the
// application. The application identifier, and with it the e-mail address, is never part of it.
package accesslog

import (
	"crypto/hmac"
	crypto "crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxWaiting = 4096
	maxBatch   = 64 << 10    // bytes that are written at once, about
	closeWait  = time.Second // for the last lines to be written

	// errorPause is the shortest time between two messages about failed writes.
	errorPause = time.Minute

	// MinKey is the shortest key in bytes.
	MinKey = 16

	hashBytes = 8   // of a hash in a line
	maxKnown  = 256 // bytes of an identifier whose hash is remembered
)

// Options configure a Log.
type Options struct {
	// Path is a file to append to, "-" for standard output or "stderr" for standard error.
	Path string

	// Share is the share of successful requests that have a line, from 0 to 1. Requests with a
	// status of 400 or more always have one.
	Share float64

	// Key is that of the hash of applications, so that only its owner can find the line of a known
	// application. Without one it is random: then the hashes differ from process to process.
	Key []byte

	// Logger gets messages about the log itself.
	Logger *slog.Logger
}

// Log is an access log.
type Log struct {
	options   Options
	threshold uint64 // random numbers below it select a successful request
	lines     chan *[]byte
	dropped   atomic.Int64
	reopen    chan struct{}
	ended     chan struct{}
	reported  time.Time // when an error was last reported; of the writer

	closing sync.Once
	closed  chan struct{}

	apps [256]atomic.Pointer[app] // applications seen last
}

// app is an identifier with the hash of its application.
type app struct{ identifier, hash string }

var (
	buffers = sync.Pool{New: func() any { return new([]byte) }}
	seed    = maphash.MakeSeed()
)

// errKind is the error of a path that is no regular file.
var errKind = errors.New(`want a regular file, "-" for standard output or "stderr" for standard error`)

// Open begins a log. Close ends it.
func Open(o Options) (*Log, error) {
	if len(o.Key) == 0 {
		o.Key = make([]byte, sha256.Size)
		_, _ = crypto.Read(o.Key) // never fails
	}
	if len(o.Key) < MinKey {
		return nil, fmt.Errorf("the key has %d bytes, want at least %d", len(o.Key), MinKey)
	}
	out, err := open(o.Path)
	if err != nil {
		return nil, err
	}
	l := &Log{
		options: o, threshold: uint64(o.Share * math.MaxUint32), lines: make(chan *[]byte, maxWaiting),
		reopen: make(chan struct{}, 1), ended: make(chan struct{}), closed: make(chan struct{}),
	}
	go l.write(out)
	return l, nil
}

func open(path string) (*os.File, error) {
	switch path {
	case "-":
		return os.Stdout, nil
	case "stderr":
		return os.Stderr, nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, errKind) // opening a named pipe would wait for a reader
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o640)
}

// Reopen opens the file anew, as log rotation needs. The writer does so soon, between two batches:
// lines that wait go to either file.
func (l *Log) Reopen() {
	select {
	case l.reopen <- struct{}{}:
	default:
	}
}

// Dropped returns how many lines were not written. It is 0 of a nil log.
func (l *Log) Dropped() int64 {
	if l == nil {
		return 0
	}
	return l.dropped.Load()
}

// Close writes the lines that wait, for at most a second. A nil log has none.
func (l *Log) Close() {
	if l == nil {
		return
	}
	l.closing.Do(func() { close(l.closed) })
	select {
	case <-l.ended:
	case <-time.After(closeWait):
	}
}

func (l *Log) wants(status int) bool {
	return status >= 400 || uint64(rand.Uint32()) < l.threshold || l.options.Share >= 1
}

// send hands a line over to the writer.
func (l *Log) send(line *[]byte) {
	select {
	case l.lines <- line:
	default:
		l.dropped.Add(1)
		buffers.Put(line)
	}
}

// Hash returns the keyed hash of an application. name returns its name, and is called only for an
// identifier that was not seen lately.
func (l *Log) Hash(identifier []byte, name func(identifier string) string) string {
	slot := &l.apps[maphash.Bytes(seed, identifier)%uint64(len(l.apps))]
	if known := slot.Load(); known != nil && known.identifier == string(identifier) {
		return known.hash
	}
	text := string(identifier)
	mac := hmac.New(sha256.New, l.options.Key)
	mac.Write([]byte(name(text)))
	known := &app{text, hex.EncodeToString(mac.Sum(nil)[:hashBytes])}
	if len(text) <= maxKnown {
		slot.Store(known)
	}
	return known.hash
}

// write writes lines until the log is closed, those that wait together.
func (l *Log) write(out *os.File) {
	defer close(l.ended)
	var batch []byte
	for {
		select {
		case line := <-l.lines:
			batch = l.writeBatch(out, append(batch[:0], *line...), line)
		case <-l.reopen:
			out = l.renew(out)
		case <-l.closed:
			for len(l.lines) > 0 {
				line := <-l.lines
				batch = l.writeBatch(out, append(batch[:0], *line...), line)
			}
			return
		}
	}
}

// writeBatch writes a batch, which begins with the first line, after adding the lines that wait.
func (l *Log) writeBatch(out io.Writer, batch []byte, first *[]byte) []byte {
	buffers.Put(first)
	n := int64(1)
	for ; len(batch) < maxBatch; n++ {
		select {
		case line := <-l.lines:
			batch = append(batch, *line...)
			buffers.Put(line)
			continue
		default:
		}
		break
	}
	if _, err := out.Write(batch); err != nil {
		l.dropped.Add(n)
		l.report("the access log cannot be written", err)
	}
	return batch
}

// renew opens the file again. If that fails, lines go where they went.
func (l *Log) renew(old *os.File) *os.File {
	if old == os.Stdout || old == os.Stderr {
		return old
	}
	out, err := open(l.options.Path)
	if err != nil {
		l.report("the access log cannot be opened again", err)
		return old
	}
	if err := old.Close(); err != nil {
		l.report("the access log cannot be closed", err)
	}
	return out
}

// report logs an error of the log itself, at most once a minute.
func (l *Log) report(message string, err error) {
	if now := time.Now(); now.Sub(l.reported) > errorPause {
		l.reported = now
		l.options.Logger.Error(message, "path", l.options.Path, "error", err)
	}
}
