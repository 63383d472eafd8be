package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"hdqs/loader"
)

// progress shows how far a load is: a bar where a person watches, else a plain line now and then.
type progress struct {
	w    io.Writer
	mu   sync.Mutex
	bar  *progressbar.ProgressBar
	said time.Time
}

// plainEvery is how often a load that nobody watches says something.
const plainEvery = 10 * time.Second

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, said: time.Now()}
	if isTerminal(w) {
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true))
	}
	return p
}

func (p *progress) update(s loader.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.ChangeMax64(max(s.Total, 1))
		p.bar.Describe(s.Path)
		_ = p.bar.Set64(min(s.Done, max(s.Total, 1)))
		return
	}
	if time.Since(p.said) >= plainEvery {
		p.said = time.Now()
		fmt.Fprintf(p.w, "%s: %s of %s read\n", s.Path, plainly(s.Done), plainly(s.Total))
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
