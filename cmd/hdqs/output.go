package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/schollz/progressbar/v3"

	"hdqs/internal/memory"
)

// printable is where commands print: control characters become \u escapes, but for line ends and
// tabs. Text of a catalog or store may be in everything that is printed, and a terminal must not
// act on it. In JSON such an escape is the same text.
type printable struct{ io.Writer }

// userInfo is the user name and password, or token, of an address, which are never printed.
var userInfo = regexp.MustCompile(`://[^/?#\s"]*@`)

func (p printable) Write(b []byte) (int, error) {
	masked := userInfo.ReplaceAllString(string(b), "://xxxxx@")
	if _, err := io.WriteString(p.Writer, escape(masked, "\n\t")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escape returns a text with escapes in place of control characters that are not in keep, and of
// those that turn the direction of what follows.
func escape(text, keep string) string {
	var out strings.Builder
	for _, r := range text {
		turns := r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
		if (turns || unicode.IsControl(r)) && !strings.ContainsRune(keep, r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// unwrap returns the writer under a printable: data must not be escaped, and a terminal must be
// recognized.
func unwrap(w io.Writer) io.Writer {
	if p, ok := w.(printable); ok {
		return p.Writer
	}
	return w
}

// progress shows the progress of one stage of a load: as a bar with rate and time left on a
// terminal, else as a line every plainEvery.
type progress struct {
	w     io.Writer
	stage string
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	began time.Time
	last  time.Time // of the last line
}

// plainEvery is the time between two lines of progress without a terminal.
const plainEvery = 10 * time.Second

func newProgress(w io.Writer, stage string) *progress {
	p := &progress{w: w, stage: stage, began: time.Now(), last: time.Now()}
	if isTerminal(w) {
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(unwrap(w)),
			progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(false))
	}
	return p
}

func (p *progress) update(path string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.ChangeMax64(max(total, done, 1))
		p.bar.Describe(p.stage + " " + escape(path, ""))
		_ = p.bar.Set64(max(done, 0))
		return
	}
	if time.Since(p.last) >= plainEvery {
		p.last = time.Now()
		fmt.Fprintf(p.w, "%s %s: %s\n", p.stage, path, rateText(done, total, time.Since(p.began)))
	}
}

// rateText describes the progress, the rate and the time left, as far as they are known.
func rateText(done, total int64, took time.Duration) string {
	text := memory.Size(done)
	if total > 0 {
		text += " of " + memory.Size(total)
	}
	rate := float64(done) / took.Seconds()
	if rate < 1 {
		return text
	}
	text += ", " + memory.Size(int64(rate)) + "/s"
	if left := total - done; left > 0 {
		text += fmt.Sprintf(", %s left", time.Duration(float64(left)/rate*float64(time.Second)).Round(time.Second))
	}
	return text
}

func (p *progress) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}

// Exit codes of all commands. Data goes to stdout, messages to stderr.
const (
	exitFailed       = 1
	exitUsage        = 2
	exitUpstream     = 3
	exitVerification = 4
	exitPartial      = 5
	exitInterrupted  = 130
)

// exitError is an error with the exit code of the process.
type exitError struct {
	code  int
	err   error
	quiet bool // the command has reported the error itself
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

func exitWith(code int, err error) error { return &exitError{code: code, err: err} }

// usagef is an error about wrong usage.
func usagef(format string, args ...any) error {
	return exitWith(exitUsage, fmt.Errorf(format, args...))
}

func printJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := unwrap(w).(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
