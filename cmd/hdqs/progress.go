package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

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
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(exact(w)),
			progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(false))
	}
	return p
}

// update sets how many of all bytes are done, and the file that is being read.
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
	text := formatBytes(done)
	if total > 0 {
		text += " of " + formatBytes(total)
	}
	rate := float64(done) / took.Seconds()
	if rate < 1 {
		return text
	}
	text += ", " + formatBytes(int64(rate)) + "/s"
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
