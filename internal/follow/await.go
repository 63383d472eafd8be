package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

const (
	// hangAfter is how long a step of a poll may take before that is logged. Further log lines come
	// after twice the time each, up to longestSilence.
	hangAfter      = 5 * time.Second
	longestSilence = 10 * time.Minute
	// abandonAfter is how long a step may take to end once it has been cancelled.
	abandonAfter = time.Second
)

var (
	// ErrNoAnswer marks a step of a poll that took too long.
	ErrNoAnswer = errors.New("the store does not answer")
	// ErrInterrupted marks a step that SIGHUP cancelled, so that a new poll can begin.
	ErrInterrupted = errors.New("interrupted by SIGHUP")
)

// Waiter waits for the steps of polls of a store, which may hang. A request over the network ends
// when its context does, but a system call on a dead file system does not end, and a goroutine
// cannot be stopped. So each step has a goroutine, and one that does not end after it has been
// cancelled is abandoned: it goes on, and its result is discarded. There is at most one abandoned
// goroutine; until it has ended, the next one that hangs is waited for. A waiter is for one
// goroutine at a time.
type Waiter struct {
	hangups   <-chan os.Signal // SIGHUP; nil for a command that polls once
	log       *slog.Logger
	Report    func(step string) // gets the present step, if not nil
	again     bool              // SIGHUP has interrupted a step, so another poll is due
	abandoned chan struct{}     // has an element while an abandoned goroutine runs
}

// NewWaiter returns a waiter that reports no steps.
func NewWaiter(hangups <-chan os.Signal, log *slog.Logger) *Waiter {
	return &Waiter{hangups: hangups, log: log, abandoned: make(chan struct{}, 1)}
}

// Step is a part of a poll. Run must not change anything that others read, since it may be
// abandoned.
type Step[T any] struct {
	Name    string
	Timeout time.Duration // 0: no limit
	Run     func(context.Context) (T, error)
	Discard func(T) // releases a result that comes too late; may be nil
}

type outcome[T any] struct {
	value T
	err   error
}

// await runs a step and waits until it ends or is abandoned. The end of ctx, the step's timeout and
// SIGHUP cancel it. If ctx ends, await returns soon afterwards in any case.
func await[T any](ctx context.Context, w *Waiter, s Step[T]) (value T, err error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if s.Timeout > 0 {
		late := time.AfterFunc(s.Timeout, func() {
			cancel(fmt.Errorf("%w: %s has taken %s", ErrNoAnswer, s.Name, s.Timeout))
		})
		defer late.Stop()
	}
	done := make(chan outcome[T], 1)
	go func() {
		v, err := s.Run(running)
		done <- outcome[T]{v, err}
	}()
	w.ReportStep(s.Name)
	began, pause := time.Now(), hangAfter
	hang := time.NewTimer(pause)
	defer hang.Stop()
	cause := func() error {
		if ctx.Err() != nil {
			return ctx.Err() // which counts more than SIGHUP shortly before
		}
		return context.Cause(running)
	}
	cancelled, ended := running.Done(), ctx.Done()
	var overdue <-chan time.Time
	var abandon chan<- struct{}
	for {
		select {
		case o := <-done:
			if o.err != nil && running.Err() != nil {
				o.err = fmt.Errorf("%w: %w", cause(), o.err)
			}
			return o.value, o.err
		case <-w.hangups:
			w.again = true
			cancel(ErrInterrupted)
		case <-cancelled:
			cancelled, overdue = nil, time.After(abandonAfter)
		case <-ended:
			ended, overdue = nil, time.After(abandonAfter)
		case <-overdue:
			if ctx.Err() != nil {
				return value, cause()
			}
			abandon = w.abandoned
		case abandon <- struct{}{}:
			go discardLate(w, s, done, began)
			return value, cause()
		case <-hang.C:
			took := time.Since(began).Round(time.Second)
			w.log.Warn("a poll of the store is taking long", "step", s.Name, "for", took)
			w.ReportStep(fmt.Sprintf("%s, for %s so far", s.Name, took))
			pause = min(2*pause, longestSilence)
			hang.Reset(pause)
		}
	}
}

// AwaitAgain is await for a step that begins again when SIGHUP has interrupted it.
func AwaitAgain[T any](ctx context.Context, w *Waiter, s Step[T]) (T, error) {
	for {
		value, err := await(ctx, w, s)
		if !errors.Is(err, ErrInterrupted) || ctx.Err() != nil {
			return value, err
		}
		w.logInterrupted()
	}
}

func (w *Waiter) logInterrupted() {
	w.log.Info("SIGHUP has interrupted a poll of the store; polling again")
}

// ReportStep reports what is being done now.
func (w *Waiter) ReportStep(text string) {
	if w.Report != nil {
		w.Report(text)
	}
}

func discardLate[T any](w *Waiter, s Step[T], done <-chan outcome[T], began time.Time) {
	o := <-done
	if s.Discard != nil && o.err == nil {
		s.Discard(o.value)
	}
	w.log.Info("an abandoned poll of the store has ended", "step", s.Name,
		"for", time.Since(began).Round(time.Second), "error", o.err)
	<-w.abandoned
}
