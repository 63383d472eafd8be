package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"
)

// Bounds of flags. Values beyond them are mistakes, and some would overflow in computations.
const (
	longestPause = 10 * 365 * 24 * time.Hour // between two polls, and for lifetimes in caches
	longestWait  = 24 * time.Hour            // for requests and queries to end
	// Below the shortest timeout a busy machine would time out by itself; the longest one is still
	// shorter than an operator waits.
	shortestTimeout = 100 * time.Millisecond
	longestTimeout  = 5 * time.Minute

	shortestPoll  = 10 * time.Millisecond // less would be a busy loop
	shortestScrub = 100 * time.Millisecond
	mostAtOnce    = 1 << 24 // queries, connections, snapshots
	noLimit       = math.MaxInt64
)

// number is the type of a flag with bounds.
type number interface {
	int | int64 | time.Duration
}

// bounded checks the value of a flag when it is set. Its errors name the bounds; the flag parser
// adds the name of the flag and the value.
type bounded[T number] struct {
	pflag.Value
	into        *T
	least, most T
	orZero      bool
}

// bound sets the bounds of a registered flag. A value outside them is refused like one that cannot
// be parsed.
func bound[T number](fl *pflag.FlagSet, name string, into *T, least, most T) {
	f := fl.Lookup(name)
	f.Value = &bounded[T]{Value: f.Value, into: into, least: least, most: most}
}

// boundOrZero is bound for a flag that may also be 0, with a meaning of its own.
func boundOrZero[T number](fl *pflag.FlagSet, name string, into *T, least, most T) {
	bound(fl, name, into, least, most)
	fl.Lookup(name).Value.(*bounded[T]).orZero = true
}

// Set parses and checks the text of the flag.
func (b *bounded[T]) Set(text string) error {
	if b.Value.Set(text) != nil {
		if b.Type() == "duration" {
			return errors.New("want a number with its unit, such as 90s, 15m or 24h")
		}
		return errors.New("want a whole number")
	}
	switch v := *b.into; {
	case b.orZero && v == 0 || v >= b.least && v <= b.most:
		return nil
	case int64(b.most) == noLimit:
		return fmt.Errorf("want %v or more", b.least)
	case b.orZero:
		return fmt.Errorf("want 0, or %v to %v", b.least, b.most)
	}
	return fmt.Errorf("want %v to %v", b.least, b.most)
}
