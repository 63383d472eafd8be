package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// handleSignals installs the signal handlers of the process, which stay until it ends. The context
// ends with the first SIGINT or SIGTERM. The second one ends the process at once. SIGHUP is for
// `hdqs serve`, which main therefore has to recognize before flags are parsed; it ends every other
// command.
func handleSignals(args []string) (ctx context.Context, hangups <-chan os.Signal) {
	hup := make(chan os.Signal, 1)
	if len(args) > 0 && args[0] == "serve" {
		signal.Notify(hup, syscall.SIGHUP)
	}
	ends := make(chan os.Signal, 2)
	signal.Notify(ends, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-ends
		cancel()
		<-ends
		fmt.Fprintln(os.Stderr, "hdqs: a second signal: ending at once")
		os.Exit(exitInterrupted)
	}()
	return ctx, hup
}
