package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A stage is a moment in the life of a replica at which signals come.
type stage struct {
	name string
	// reach starts a replica and brings it to the stage.
	reach func(ctx context.Context, d *drill, data *dataset) (r *replica, release func(), err error)
	codes []int // of one SIGTERM or SIGINT, those that are right
}

const (
	codeOK          = 0
	codeInterrupted = 130
)

var stages = []stage{
	{"before listening", reachStart, []int{codeInterrupted, codeOK}},
	{"first fetch", reachFetch, []int{codeInterrupted}},
	{"serving", reachServing, []int{codeOK}},
	{"look", reachLook, []int{codeOK}},
	{"draining", reachDraining, []int{codeInterrupted}}, // this signal is the second one
}

// drainFor is the time that a replica drains in this scenario.
const drainFor = time.Second

func drainFlags() []string {
	return []string{"--shutdown-delay", drainFor.String(), "--drain-timeout", "2s", "--snapshot-poll", "1h"}
}

// reachStart waits for the first message, which comes before anything is loaded. Earlier, while the
// Go runtime starts, no program can have handlers.
func reachStart(ctx context.Context, d *drill, data *dataset) (*replica, func(), error) {
	r, err := d.startServe(ctx, serving{args: append(drainFlags(), "--store", data.store)})
	return r, func() {}, err
}

// reachFetch starts a replica without a kept copy on a store that hangs.
func reachFetch(ctx context.Context, d *drill, data *dataset) (*replica, func(), error) {
	return reachHang(ctx, d, data, false)
}

// reachLook makes a replica look at a store that hangs.
func reachLook(ctx context.Context, d *drill, data *dataset) (*replica, func(), error) {
	return reachHang(ctx, d, data, true)
}

func reachHang(ctx context.Context, d *drill, data *dataset, served bool) (*replica, func(), error) {
	kept, err := d.folder("kept")
	if err != nil {
		return nil, nil, err
	}
	store, err := d.newWebStore(data.store)
	if err != nil {
		return nil, nil, err
	}
	if !served {
		store.mode.Store(hangs)
	}
	args := append(drainFlags(), "--data-dir", kept, "--store-timeout", "5m")
	r, err := d.startServe(ctx, serving{env: store.env, args: append(args, store.flags...)})
	if err != nil {
		return nil, store.stop, err
	}
	if served {
		if err := r.waitListening(ctx); err != nil {
			return r, store.stop, err
		}
		store.mode.Store(hangs)
		asked := store.asked.Load()
		if err := r.signal(syscall.SIGHUP); err != nil {
			return r, store.stop, err
		}
		return r, store.stop, waitFor(ctx, "the look to begin", func() bool { return store.asked.Load() > asked })
	}
	return r, store.stop, waitFor(ctx, "the first fetch", func() bool { return store.asked.Load() > 0 })
}

func reachServing(ctx context.Context, d *drill, data *dataset) (*replica, func(), error) {
	r, err := d.serve(ctx, serving{args: append(drainFlags(), "--store", data.store)})
	return r, func() {}, err
}

func reachDraining(ctx context.Context, d *drill, data *dataset) (*replica, func(), error) {
	r, release, err := reachServing(ctx, d, data)
	if err != nil {
		return r, release, err
	}
	if err := r.signal(syscall.SIGTERM); err != nil {
		return r, release, err
	}
	return r, release, waitFor(ctx, "the shutdown to begin", func() bool {
		return !r.alive() || strings.Contains(r.readiness().Reason, "shutting down")
	})
}

// signals sends each signal at each stage.
func signals(ctx context.Context, d *drill, t *table) error {
	data, err := d.sample(ctx)
	if err != nil {
		return err
	}
	repeat := d.times(5, 1)
	for _, at := range stages {
		for _, sent := range [][]syscall.Signal{
			{syscall.SIGHUP},
			{syscall.SIGINT},
			{syscall.SIGTERM},
			{syscall.SIGTERM, syscall.SIGTERM},
			{syscall.SIGINT, syscall.SIGINT},
		} {
			if err := signalsAt(ctx, d, t, data, at, sent, repeat); err != nil {
				t.fail(describe(at, sent), err)
			}
			d.processes.killAll(false)
		}
	}
	return ctx.Err()
}

// sendAll sends signals one after the other, and reports whether the second one was sent: the first
// may have ended the process. Two equal signals at the same time would arrive as one.
func sendAll(ctx context.Context, r *replica, sent []syscall.Signal) (second bool, err error) {
	if err := r.signal(sent[0]); err != nil || len(sent) == 1 {
		return false, err
	}
	select {
	case <-r.ended:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(100 * time.Millisecond):
	}
	err = r.cmd.Process.Signal(sent[1])
	return err == nil, nil
}

func describe(at stage, sent []syscall.Signal) string {
	names := map[syscall.Signal]string{syscall.SIGHUP: "SIGHUP", syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM"}
	if len(sent) == 2 {
		return at.name + ": " + names[sent[0]] + " twice"
	}
	return at.name + ": " + names[sent[0]]
}

// signalsAt sends signals at a stage, some times, and adds a row.
func signalsAt(
	ctx context.Context, d *drill, t *table, data *dataset, at stage, sent []syscall.Signal, repeat int,
) error {
	var slowest time.Duration
	codes := map[int]int{}
	for range repeat {
		r, release, err := at.reach(ctx, d, data)
		if release != nil {
			defer release()
		}
		if err != nil {
			return err
		}
		began := time.Now()
		second, err := sendAll(ctx, r, sent)
		if err != nil {
			return err
		}
		if sent[0] == syscall.SIGHUP {
			if err := survives(ctx, r, at); err != nil {
				return err
			}
			continue
		}
		code, err := r.wait(ctx, patience)
		if err != nil {
			return err
		}
		slowest = max(slowest, time.Since(began))
		if len(sent) == 2 && !second && slices.Contains(at.codes, code) {
			code = codeInterrupted // the first one has ended it at once
		}
		codes[code]++
	}
	if sent[0] == syscall.SIGHUP {
		t.add(describe(at, sent), fmt.Sprintf("went on, %d of %d", repeat, repeat), "never ends the process", "", true)
		return nil
	}
	want, most := at.codes, d.span(drainFor+3*time.Second, 10*time.Second)
	if len(sent) == 2 {
		want, most = []int{codeInterrupted}, d.span(time.Second, 10*time.Second)
	}
	right := 0
	for _, code := range want {
		right += codes[code]
	}
	t.add(describe(at, sent), fmt.Sprintf("exit codes %s, at most %.2f s", countsOf(codes), slowest.Seconds()),
		fmt.Sprintf("code %s within %s", orList(want), most), "", right == repeat && slowest <= most)
	return nil
}

// survives checks that a replica goes on from a stage after SIGHUP.
func survives(ctx context.Context, r *replica, at stage) error {
	switch at.name {
	case "before listening", "serving":
		if err := r.waitListening(ctx); err != nil {
			return err
		}
	case "draining":
		// The end of the shutdown that had begun.
		code, err := r.wait(ctx, patience)
		if err != nil || code != codeOK {
			return fmt.Errorf("exit code %d after SIGHUP, %w", code, err)
		}
		return nil
	default:
		if err := waitFor(ctx, "the interrupted look in the log", func() bool {
			return !r.alive() || strings.Contains(r.log.String(), "SIGHUP has interrupted")
		}); err != nil {
			return err
		}
	}
	if !r.alive() {
		return fmt.Errorf("SIGHUP has ended the process: %v; its log:\n%s", r.cmd.ProcessState, r.log.last())
	}
	code, err := r.stop(ctx)
	if err != nil || code != codeOK && code != codeInterrupted {
		return fmt.Errorf("exit code %d after SIGHUP and SIGTERM, %w", code, err)
	}
	return nil
}

func countsOf(codes map[int]int) (text string) {
	for _, code := range []int{-1, 0, 1, 2, 3, 4, 130} {
		if n := codes[code]; n > 0 {
			text += fmt.Sprintf("%d (%d times) ", code, n)
		}
	}
	return strings.TrimSpace(text)
}

func orList(codes []int) string {
	var all []string
	for _, code := range codes {
		all = append(all, strconv.Itoa(code))
	}
	return strings.Join(all, " or ")
}
