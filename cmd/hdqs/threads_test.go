package main

import (
	"runtime"
	"testing"
)

// TestAddThread checks the number of threads during two steps of swaps that overlap, and
// afterwards, with a number from the environment and without one.
func TestAddThread(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, set := range []string{"", "3"} {
		t.Setenv("GOMAXPROCS", set)
		want := 3
		if set == "" {
			runtime.SetDefaultGOMAXPROCS()
			want = runtime.GOMAXPROCS(0)
		}
		runtime.GOMAXPROCS(want)
		check := func(when string, want int) {
			t.Helper()
			if got := runtime.GOMAXPROCS(0); got != want {
				t.Errorf("GOMAXPROCS=%q, %s: %d threads, want %d", set, when, got, want)
			}
		}
		removeFirst := addThread()
		check("in the first step", want+1)
		removeSecond := addThread()
		check("in both", want+1)
		removeFirst()
		check("in the second step", want+1)
		removeSecond()
		check("afterwards", want)
	}
}
