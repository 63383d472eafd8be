package main

import (
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"
)

// Bounds of flags. What is beyond them is a slip, and some of it would overflow where times and counts are calculated with.
const (
	longestPause = 10 * 365 * 24 * time.Hour // between two looks, and of what caches and callers may keep
	longestWait  = 24 * time.Hour            // for something that is under way
	shortestLook = 10 * time.Millisecond     // between two looks that are not to be a busy loop
	mostAtOnce   = 1 << 24                   // queries, connections, snapshots
	noMost       = math.MaxInt64
)

// number is what a flag that has bounds may be.
type number interface {
	int | int64 | time.Duration
}

// bounded is a flag's value that is checked when it is set. Its errors name the value and the bounds, and whoever parses flags adds the flag's name.
type bounded[T number] struct {
	pflag.Value
	into        *T
	least, most T
	orZero      bool
}

// bound gives a flag that is registered its bounds; a value outside them is refused as one that cannot be parsed is.
func bound[T number](fl *pflag.FlagSet, name string, into *T, least, most T) {
	f := fl.Lookup(name)
	f.Value = &bounded[T]{Value: f.Value, into: into, least: least, most: most}
}

// boundOrZero is bound for a flag of which 0 means something of its own.
func boundOrZero[T number](fl *pflag.FlagSet, name string, into *T, least, most T) {
	bound(fl, name, into, least, most)
	fl.Lookup(name).Value.(*bounded[T]).orZero = true
}

// Set takes the flag's text.
func (b *bounded[T]) Set(text string) error {
	if err := b.Value.Set(text); err != nil {
		return err
	}
	switch v := *b.into; {
	case b.orZero && v == 0 || v >= b.least && v <= b.most:
		return nil
	case int64(b.most) == noMost:
		return fmt.Errorf("want %v or more", b.least)
	case b.orZero:
		return fmt.Errorf("want 0, or %v to %v", b.least, b.most)
	}
	return fmt.Errorf("want %v to %v", b.least, b.most)
}
