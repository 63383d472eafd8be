package follow

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"hdqs/internal/testkit"
)

// hangingStep is a step that ignores its context, like a system call on a dead file system, until
// end is closed.
func hangingStep(end <-chan struct{}, discarded *int) Step[int] {
	return Step[int]{
		Name: "reading", Timeout: 10 * time.Second,
		Run:     func(context.Context) (int, error) { <-end; return 7, nil },
		Discard: func(int) { *discarded++ },
	}
}

// TestAwaitHang: a step that never ends is logged after 5 s, fails by its timeout, and is
// abandoned. The next poll works meanwhile.
func TestAwaitHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var reasons []string
		w := NewWaiter(nil, slog.New(slog.NewTextHandler(&log, nil)))
		w.Report = func(reason string) { reasons = append(reasons, reason) }
		end, discarded := make(chan struct{}), 0
		began := time.Now()
		_, err := await(t.Context(), w, hangingStep(end, &discarded))
		if took := time.Since(began); !errors.Is(err, ErrNoAnswer) || took != 10*time.Second+abandonAfter {
			t.Errorf("%v after %s, want ErrNoAnswer after the timeout and %s", err, took, abandonAfter)
		}
		testkit.Equal(t, strings.Join(reasons, "; "), "reading; reading, for 5s so far", "reported %q", reasons)
		if !strings.Contains(log.String(), "taking long") || !strings.Contains(log.String(), "for=5s") {
			t.Errorf("log %s, want the hang after 5s", &log)
		}
		answering := Step[int]{Name: "reading", Run: func(context.Context) (int, error) { return 8, nil }}
		if v, err := await(t.Context(), w, answering); v != 8 || err != nil {
			t.Errorf("the next step: %d, %v", v, err)
		}
		close(end)
		synctest.Wait()
		if discarded != 1 || len(w.abandoned) != 0 {
			t.Errorf("%d results discarded, %d goroutines abandoned, want 1 and 0", discarded, len(w.abandoned))
		}
	})
}

// TestAwaitAbandonsOne: while an abandoned step hangs, the next one that hangs is waited for, with
// growing pauses in the log. The end does not wait for it.
func TestAwaitAbandonsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := NewWaiter(nil, slog.New(slog.NewTextHandler(&log, nil)))
		end, discarded := make(chan struct{}), 0
		defer close(end)
		if _, err := await(t.Context(), w, hangingStep(end, &discarded)); !errors.Is(err, ErrNoAnswer) {
			t.Fatal(err)
		}
		log.Reset()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)
		began := time.Now()
		_, err := await(ctx, w, hangingStep(end, &discarded))
		if took := time.Since(began); err == nil || took != time.Hour+abandonAfter {
			t.Errorf("%v after %s, want an error %s after the end", err, took, abandonAfter)
		}
		for _, text := range []string{"for=5s", "for=15s", "for=35s", "for=1m15s", "for=20m35s", "for=50m35s"} {
			testkit.Contains(t, log.String(), text+"\n", "no line with %s in the log:\n%s", text, &log)
		}
		if n := strings.Count(log.String(), "\n"); n > 15 {
			t.Errorf("%d lines in an hour:\n%s", n, &log)
		}
	})
}

// TestAwaitInterrupted: SIGHUP cancels a step. One that ends with its context is not abandoned.
func TestAwaitInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangups := make(chan os.Signal, 1)
		w := NewWaiter(hangups, slog.New(slog.DiscardHandler))
		time.AfterFunc(time.Second, func() { hangups <- syscall.SIGHUP })
		began := time.Now()
		_, err := await(t.Context(), w, Step[int]{Name: "reading", Run: func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		}})
		if took := time.Since(began); !errors.Is(err, ErrInterrupted) || !w.again || took != time.Second {
			t.Errorf("%v after %s, again %v; want ErrInterrupted after 1s", err, took, w.again)
		}
		testkit.Equal(t, len(w.abandoned), 0, "the step was abandoned")
		// A result that came in spite of the signal counts.
		hangups <- syscall.SIGHUP
		w.again = false
		v, err := await(t.Context(), w, Step[int]{Name: "opening", Run: func(context.Context) (int, error) {
			time.Sleep(abandonAfter / 2)
			return 9, nil
		}})
		if v != 9 || err != nil || !w.again {
			t.Errorf("%d, %v, again %v; want the result, and another poll", v, err, w.again)
		}
	})
}
