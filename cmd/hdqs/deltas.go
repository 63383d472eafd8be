package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"hdqs/internal/memory"
	"hdqs/snapshot/store"
)

// deltaFlag says from how many snapshots of a channel replicas get deltas to a new one.
type deltaFlag struct{ count int }

func (f *deltaFlag) register(fl *pflag.FlagSet) {
	fl.IntVar(&f.count, "deltas", 1, "from how many of the channel's last snapshots to write deltas to the new one, "+
		"for replicas of a remote store; 0: none")
	bound(fl, "deltas", &f.count, 0, 16)
}

// write writes deltas to a snapshot that the channel does not show yet. Without them replicas
// download whole segments, so that an error is only reported.
func (f *deltaFlag) write(into *openStore, shown store.Channel, id string, messages io.Writer) {
	if f.count == 0 || shown.ID == "" {
		return
	}
	err := func() error {
		to, err := into.Manifest(id)
		if isAbsent(err) {
			return nil // an error of what publishes it
		}
		if err != nil {
			return err
		}
		var written store.WrittenDeltas
		var errs []error
		last := append([]store.Pointer{shown.Pointer}, shown.Previous...)
		for _, p := range last[:min(f.count, len(last))] {
			from, err := into.Manifest(p.ID)
			if isAbsent(err) || p.ID == id {
				continue // it was removed
			}
			if err == nil {
				var n store.WrittenDeltas
				n, err = into.PutDeltas(from, to)
				written.Add(n)
			}
			errs = append(errs, err)
		}
		if written.Files > 0 {
			fmt.Fprintf(messages, "deltas to %s: %s, for segments of %s\n",
				id, memory.Size(written.Bytes), memory.Size(written.Whole))
		}
		return errors.Join(errs...)
	}()
	if err != nil {
		fmt.Fprintf(messages, "hdqs: warning: deltas to %s could not be written, "+
			"replicas will download whole segments: %v\n", id, err)
	}
}
