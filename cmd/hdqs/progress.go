package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows how far one stage of a load is: a bar with rate and time left where a person watches, else a plain line now and then.
type progress struct {
	w     io.Writer
	stage string
	mu    sync.Mutex
	bar   *progressbar.ProgressBar
	began time.Time
	said  time.Time
}

// plainEvery is how often a load that nobody watches says something.
const plainEvery = 10 * time.Second

func newProgress(w io.Writer, stage string) *progress {
	p := &progress{w: w, stage: stage, began: time.Now(), said: time.Now()}
	if isTerminal(w) {
		p.bar = progressbar.NewOptions64(1, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true), progressbar.OptionShowTotalBytes(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true),
			progressbar.OptionSetElapsedTime(false))
	}
	return p
}

// update tells how many bytes of all are done, and of which file the last of them were.
func (p *progress) update(path string, done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		p.bar.ChangeMax64(max(total, done, 1))
		p.bar.Describe(p.stage + " " + path)
		_ = p.bar.Set64(max(done, 0))
		return
	}
	if time.Since(p.said) >= plainEvery {
		p.said = time.Now()
		fmt.Fprintf(p.w, "%s %s: %s\n", p.stage, path, pace(done, total, time.Since(p.began)))
	}
}

// pace is how far it is, how fast, and how long it will take at that rate, as far as that can be told.
func pace(done, total int64, took time.Duration) string {
	text := plainly(done)
	if total > 0 {
		text += " of " + plainly(total)
	}
	rate := float64(done) / took.Seconds()
	if rate < 1 {
		return text
	}
	text += ", " + plainly(int64(rate)) + "/s"
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
