package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/generator"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestDryRunNeedsNoLock: a dry run works on a store that somebody else is writing to, or that
// cannot be written to. Writers are warned of a channel whose time is in the future, and root of a
// store of another user.
func TestDryRunNeedsNoLock(t *testing.T) {
	parallel(t)
	dir := copyStore(t, smallStore(t))
	st, err := store.Open(dir)
	testkit.Must(t, err)
	lock, err := st.Lock("a test")
	testkit.Must(t, err)
	mustExit(t, 1, "gc", "--store", dir)
	mustExit(t, 0, "gc", "--store", dir, "--dry-run", "--grace", "0")
	testkit.Must(t, lock.Release())
	p, err := st.Channels.Channel("stable")
	testkit.Must(t, err)
	testkit.Must(t, st.Channels.Publish("stable", p.ID, time.Now().AddDate(4, 0, 0)))
	if o := mustExit(t, 1, "status", "--fleet", "--store", dir); !strings.Contains(o.stdout, "which is in the future") {
		t.Errorf("no warning: %s", o.stdout)
	}
	if os.Geteuid() == 0 {
		testkit.Must(t, os.Chown(dir, 65534, 65534))
		if o := mustExit(t, 0, "gc", "--store", dir); !strings.Contains(o.stderr, dir+" belongs to another user") {
			t.Errorf("no warning of the owner: %s", o.stderr)
		}
	}
	if o := mustExit(t, 1, "rollback", "--store", dir); !strings.Contains(o.stderr, "which is in the future") {
		t.Errorf("no warning: %s", o.stderr)
	}
}

// TestUsualNights: the edits of usual nights, some rows in a thousand in each, are no large changes
// of headline figures.
func TestUsualNights(t *testing.T) {
	parallel(t)
	nights, store := 3, filepath.Join(t.TempDir(), "store")
	if testkit.Long() {
		nights = 30
	}
	for night := range nights {
		catalog := filepath.Join(t.TempDir(), "catalog")
		o := generator.Options{Seed: 7}
		if night > 0 {
			o.Edited = 150 + night*97%500 // the rows that are edited at a higher number are among those at a lower
		}
		_, err := generator.Write(catalog, o)
		testkit.Must(t, err)
		r := run(t, "build", "--catalog", catalog, "--store", store, "--snapshot-time",
			fmt.Sprintf("2026-11-%02dT00:00:00Z", night+1))
		if r.code != 0 && r.code != 5 {
			t.Fatalf("night %d: exit code %d\n%s", night, r.code, r.stderr)
		}
		if !strings.Contains(r.stdout, ": published") {
			t.Errorf("night %d: nothing is new", night)
		}
		for line := range strings.Lines(r.stderr) {
			if strings.Contains(line, "large change") {
				t.Errorf("night %d: %s", night, line)
			}
		}
	}
}

// TestDiffRows compares 'diff --rows' of the sample and a later edition of it with answers to
// requests for changes. The judge compares those with the rows of both states.
func TestDiffRows(t *testing.T) {
	parallel(t)
	store := sampleStore(t)
	from, _ := inspect(t, store)
	s := serve(t, "--store", store)
	edition := newCatalogOf(t, generator.Options{Seed: 1, Edited: 8})
	run(t, "build", "--catalog", edition, "--store", store, "--snapshot-time", "2026-11-23T00:00:00Z")
	to, _ := inspect(t, store)
	s.signalAndWait(t, "the swap", "snapshot swapped")
	diff := []string{"diff", "--store", store, "--rows", from.ID, to.ID}
	objects, changes := map[string]int{}, 0
	for line := range strings.Lines(mustExit(t, 0, diff...).stdout) {
		objects[decode[struct{ Table string }](t, []byte(line)).Table]++
	}
	for i := range contract.Endpoints {
		e := &contract.Endpoints[i]
		printed := mustExit(t, 0, append(diff, "--table", e.Table, "--format", "csv")...).stdout
		n := strings.Count(printed, "\r\n") - 1
		a := ask(t, "GET", s.base+with(e.Path+"/changes?output_format=csv&since="+from.ID))
		if a.status != 200 || string(a.body) != printed {
			t.Errorf("%s: the answer to a request for changes is another one: %d %.300s", e.Table, a.status, a.body)
		}
		if objects[e.Table] != n {
			t.Errorf("%s: %d objects, %d lines", e.Table, objects[e.Table], n)
		}
		changes += n
	}
	if changes < 1000 {
		t.Errorf("only %d rows differ", changes)
	}
}
