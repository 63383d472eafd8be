package main_test

import (
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/internal/generator"
)

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
