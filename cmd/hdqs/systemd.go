package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"hdqs/api"
	"hdqs/api/contract"
	"hdqs/snapshot/store"
)

// notifier reports to systemd (sd_notify). Without systemd, or with a unit of another type than
// notify, it does nothing.
type notifier struct{ log *slog.Logger }

const (
	// While the process starts it asks for startExtension more every startReport, so that the first
	// load of a catalog may take longer than TimeoutStartSec.
	startReport    = 20 * time.Second
	startExtension = 90 * time.Second

	// stopExtension is what the end may take beyond the shutdown delay and the drain timeout.
	stopExtension = 10 * time.Second
)

func (n *notifier) send(lines ...string) {
	for i, line := range lines { // a message consists of lines of NAME=VALUE
		lines[i] = strings.ReplaceAll(strings.TrimSpace(line), "\n", " ")
	}
	if _, err := daemon.SdNotify(false, strings.Join(lines, "\n")); err != nil {
		n.log.Warn("systemd could not be notified", "error", err)
	}
}

// startingUp reports until ctx ends that the start goes on.
func (n *notifier) startingUp(ctx context.Context) {
	for {
		n.send(extend(startExtension))
		select {
		case <-ctx.Done():
			return
		case <-time.After(startReport):
		}
	}
}

func extend(by time.Duration) string { return fmt.Sprintf("EXTEND_TIMEOUT_USEC=%d", by.Microseconds()) }

// starting says what the start waits for.
func (n *notifier) starting(step string) { n.send("STATUS=starting: " + step) }

// reloading announces a poll of the store that SIGHUP asked for. The time is what
// Type=notify-reload needs; ready ends the reload.
func (n *notifier) reloading() {
	n.send(daemon.SdNotifyReloading, daemon.SdNotifyMonotonicUsec())
}

// ready says that requests are answered, and the result of the last poll of the store.
func (n *notifier) ready(shown store.Pointer, pollFailed error) {
	status := fmt.Sprintf("STATUS=serving snapshot %s, published %s",
		shown.ID, shown.PublishedAt.UTC().Format(time.RFC3339))
	if pollFailed != nil {
		status += "; the last poll of the store failed: " + pollFailed.Error()
	}
	n.send(daemon.SdNotifyReady, status)
}

func (n *notifier) stopping(f *serveFlags) {
	n.send(daemon.SdNotifyStopping, extend(f.shutdownDelay+f.drainTimeout+stopExtension),
		"STATUS=ending: answering the last requests")
}

// watch notifies the watchdog for as long as the server answers, if the unit has WatchdogSec. If a
// request hangs, so does this loop. The request needs neither a slot nor a snapshot: a replica that
// refuses queries under load is not restarted. The loop goes on until the process ends.
func (n *notifier) watch(server *api.Server) error {
	interval, err := daemon.SdWatchdogEnabled(false)
	switch {
	case err != nil:
		return fmt.Errorf("WATCHDOG_USEC %s: %w", os.Getenv("WATCHDOG_USEC"), err)
	case interval == 0:
		return nil
	}
	go func() {
		for {
			if a := server.Answer("GET", contract.VersionPath, nil); a.Status == 200 {
				n.send(daemon.SdNotifyWatchdog)
			} else {
				n.log.Error("the watchdog is not notified", "request", contract.VersionPath, "status", a.Status)
			}
			time.Sleep(interval / 3)
		}
	}()
	return nil
}

// endsInOrder is set once a command has something to end in order: serve when it answers, the
// others when their flags are read.
var endsInOrder atomic.Bool
