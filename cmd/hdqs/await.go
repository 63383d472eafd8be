package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

const (
	// hangAfter is how long a step of a look may take before that is logged. Further log lines come
	// after twice the time each, up to longestSilence.
	hangAfter      = 5 * time.Second
	longestSilence = 10 * time.Minute
	// abandonAfter is how long a step may take to end once it has been cancelled.
	abandonAfter = time.Second
)

var (
	// errNoAnswer marks a step of a look that took too long.
	errNoAnswer = errors.New("the store does not answer")
	// errInterrupted marks a step that SIGHUP cancelled, so that a new look can begin.
	errInterrupted = errors.New("interrupted by SIGHUP")
)

// waiter waits for the steps of looks at a store, which may hang. A request over the network ends
// when its context does, but a system call on a dead file system does not end, and a goroutine
// cannot be stopped. So each step has a goroutine, and one that does not end after it has been
// cancelled is abandoned: it goes on, and its result is discarded. There is at most one abandoned
// goroutine; until it has ended, the next one that hangs is waited for. A waiter is for one
// goroutine at a time.
type waiter struct {
	hangups   <-chan os.Signal
	log       *slog.Logger
	report    func(reason string) // gets the present step, if not nil
	again     bool                // SIGHUP has interrupted a step, so another look is due
	abandoned chan struct{}       // has an element while an abandoned goroutine runs
}

func newWaiter(hangups <-chan os.Signal, log *slog.Logger) *waiter {
	return &waiter{hangups: hangups, log: log, abandoned: make(chan struct{}, 1)}
}

// step is a part of a look. run must not change anything that others read, since it may be
// abandoned.
type step[T any] struct {
	name    string
	timeout time.Duration // 0: no limit
	run     func(context.Context) (T, error)
	discard func(T) // releases a result that comes too late; may be nil
}

type outcome[T any] struct {
	value T
	err   error
}

// await runs a step and waits until it ends or is abandoned. The end of ctx, the step's timeout and
// SIGHUP cancel it. If ctx ends, await returns soon afterwards in any case.
func await[T any](ctx context.Context, w *waiter, s step[T]) (value T, err error) {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if s.timeout > 0 {
		late := time.AfterFunc(s.timeout, func() {
			cancel(fmt.Errorf("%w: %s has taken %s", errNoAnswer, s.name, s.timeout))
		})
		defer late.Stop()
	}
	done := make(chan outcome[T], 1)
	go func() {
		v, err := s.run(running)
		done <- outcome[T]{v, err}
	}()
	w.reportStep(s.name)
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
			cancel(errInterrupted)
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
			w.log.Warn("a look at the store is taking long", "step", s.name, "for", took)
			w.reportStep(fmt.Sprintf("%s, for %s so far", s.name, took))
			pause = min(2*pause, longestSilence)
			hang.Reset(pause)
		}
	}
}

// awaitAgain is await for a step that begins again when SIGHUP has interrupted it.
func awaitAgain[T any](ctx context.Context, w *waiter, s step[T]) (T, error) {
	for {
		value, err := await(ctx, w, s)
		if !errors.Is(err, errInterrupted) || ctx.Err() != nil {
			return value, err
		}
		w.logInterrupted()
	}
}

func (w *waiter) logInterrupted() {
	w.log.Info("SIGHUP has interrupted a look at the store; looking again")
}

func (w *waiter) reportStep(text string) {
	if w.report != nil {
		w.report(text)
	}
}

// discardLate waits for the result of an abandoned step and discards it.
func discardLate[T any](w *waiter, s step[T], done <-chan outcome[T], began time.Time) {
	o := <-done
	if s.discard != nil && o.err == nil {
		s.discard(o.value)
	}
	w.log.Info("an abandoned look at the store has ended", "step", s.name,
		"for", time.Since(began).Round(time.Second), "error", o.err)
	<-w.abandoned
}
