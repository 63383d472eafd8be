package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

var noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)

func pointer(id string, minutes int) store.Pointer {
	return store.Pointer{
		ID: id, PublishedAt: noon.Add(time.Duration(minutes) * time.Minute), SHA256: strings.Repeat("0", 64),
	}
}

func seen(name string, shown store.Pointer) Seen {
	return Seen{Report: Report{Replica: name, Channel: "stable", Shown: shown, Started: noon, DueSeconds: 600}}
}

// TestRead reads reports of a directory: one that is overdue by the store's clock, one of another
// replica, one that is damaged. None of these is good, whatever it says.
func TestRead(t *testing.T) {
	t.Parallel()
	s := testkit.Value(store.Open(t.TempDir()))(t)
	put := func(file string, age time.Duration, text []byte) {
		t.Helper()
		name, err := store.ReplicaName("stable", file)
		testkit.Must(t, errors.Join(err, s.Snapshots.PutFile(name, text)))
		at := time.Now().Add(-age)
		testkit.Must(t, os.Chtimes(filepath.Join(s.Dir(), name), at, at))
	}
	encode := func(r Seen) []byte { return testkit.Value(json.Marshal(r.Report))(t) }
	main := store.Channel{}.Moved(pointer("s1", 0))
	put("a", 0, encode(seen("a", main.Pointer)))
	put("b", 11*time.Minute, encode(seen("b", main.Pointer)))
	put("c", 0, encode(seen("a", main.Pointer)))
	put("d", 0, []byte(`{"replica":"d"`))
	put("e", 0, encode(seen("e", pointer("s0", -5))))
	refused := seen("f", pointer("s0", -5))
	refused.Refused = &Refusal{main.Pointer, "open", "no table idps"}
	put("f", 0, encode(refused))
	old := seen("g", main.Pointer)
	old.Refused = &Refusal{pointer("s1", -9), "open", "was so before"}
	put("g", 0, encode(old))
	failed := seen("h", main.Pointer)
	failed.Failed = "channel: timeout"
	put("h", 0, encode(failed))
	want := map[string]State{
		"a": Good, "b": Unknown, "c": Unknown, "d": Unknown, "e": Behind, "f": Refuses, "g": Good, "h": Failing,
	}
	for clock, now := range map[string]time.Time{"right": time.Now(), "slow": time.Now().Add(-time.Hour)} {
		all, err := Read(t.Context(), s.Files(), "stable", now)
		if err != nil || len(all) != len(want) {
			t.Fatalf("%d reports, %v", len(all), err)
		}
		for i := range all {
			state, why := all[i].State(main, store.Channel{})
			if state != want[all[i].Replica] || (why == "") != (state == Good) {
				t.Errorf("%s clock: %s is %s: %s", clock, all[i].Replica, state, why)
			}
		}
		testkit.EqualLists(t, Canaries(all, 100), []string{"a", "e", "f", "g", "h"}, "known replicas")
	}
	if all, err := Read(t.Context(), s.Files(), "stable", time.Now().Add(time.Hour)); err != nil || Enough(all) != 0 {
		t.Errorf("a clock that is an hour fast: %d per cent, %v; want no known replica", Enough(all), err)
	}
	canary := store.StartCanary(main, 100, noon.Add(time.Hour))(store.Channel{}, pointer("s2", 0))
	good := seen("a", main.Pointer)
	if state, _ := good.State(main, canary); state != Behind {
		t.Errorf("a replica that does not follow its canary is %s", state)
	}
}

// TestJudge: only reports of the publication itself count.
func TestJudge(t *testing.T) {
	t.Parallel()
	p := pointer("s2", 0)
	refusal := seen("b", pointer("s1", -9))
	refusal.Refused = &Refusal{p, "open", "no table idps"}
	other := refusal
	other.Refused = &Refusal{pointer("s2", -1), "open", "no table idps"}
	silent := seen("b", p)
	silent.Age = time.Hour
	failed := seen("b", p)
	failed.Failed = "channel: timeout"
	again := seen("b", p)
	again.Started = noon.Add(time.Minute)
	both := []Seen{seen("a", p), seen("b", p)}
	stranger := refusal
	stranger.Replica = "z"
	for name, c := range map[string]struct {
		looks [][]Seen
		want  Verdict
		text  string
	}{
		"served":                 {[][]Seen{{seen("a", p), seen("b", p)}}, Served, ""},
		"one has no report":      {[][]Seen{{seen("a", p)}}, Waiting, "b has no report"},
		"an earlier publication": {[][]Seen{{seen("a", p), seen("b", pointer("s2", -1))}}, Waiting, "b does not serve"},
		"an earlier refusal":     {[][]Seen{{seen("a", p), other}}, Waiting, "b does not serve"},
		"refused":                {[][]Seen{{seen("a", p), refusal}}, Refused, "no table idps"},
		"refused by another":     {[][]Seen{{seen("a", p), seen("b", p), stranger}}, Refused, "replica z refuses"},
		"silent":                 {[][]Seen{{seen("a", p), silent}}, Waiting, "b is silent"},
		"cannot poll":            {[][]Seen{{seen("a", p), failed}}, Waiting, "b could not poll"},
		"started again":          {[][]Seen{both, {both[0], again}}, Refused, "b was started"},
		"started before":         {[][]Seen{{both[0], seen("b", pointer("s1", -9))}, {both[0], again}}, Served, ""},
	} {
		j := Judge{Pointer: p, Replicas: []string{"a", "b"}}
		var got Verdict
		var reasons []string
		for _, all := range c.looks {
			got, reasons = j.Look(all)
		}
		if text := strings.Join(reasons, "; "); got != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%s: %d, %s; want %d with %q", name, got, text, c.want, c.text)
		}
	}
}

// TestWatch: a publication is proven after it was served for the hold without a break, refused at
// once, and given up in time.
func TestWatch(t *testing.T) {
	t.Parallel()
	p := pointer("s2", 0)
	refusal := seen("a", p)
	refusal.Refused = &Refusal{p, "memory", "does not fit"}
	away := errors.New("the store is away")
	h := Hold{For: 10 * time.Minute, Most: time.Hour, Pause: time.Minute}
	for name, c := range map[string]struct {
		at   func(minute int) (Seen, error)
		want Verdict
		took time.Duration
		text string
	}{
		"served after 5 minutes": {func(m int) (Seen, error) {
			if m < 5 {
				return seen("a", pointer("s1", -9)), nil
			}
			return seen("a", p), nil
		}, Served, 15 * time.Minute, ""},
		"a break": {func(m int) (Seen, error) {
			if m == 9 {
				return Seen{}, away
			}
			return seen("a", p), nil
		}, Served, 20 * time.Minute, ""},
		"refused": {func(m int) (Seen, error) {
			if m == 3 {
				return refusal, nil
			}
			return seen("a", p), nil
		}, Refused, 3 * time.Minute, "does not fit"},
		"away": {func(int) (Seen, error) { return Seen{}, away }, Waiting, time.Hour, "away"},
		"never": {func(int) (Seen, error) {
			return seen("a", pointer("s1", 0)), nil
		}, Waiting, time.Hour, "does not serve"},
		"too late": {func(m int) (Seen, error) {
			return seen("a", pointer("s2", min(0, m-55))), nil
		}, Waiting, time.Hour, "only"},
	} {
		synctest.Test(t, func(t *testing.T) {
			j, began := Judge{Pointer: p, Replicas: []string{"a"}}, time.Now()
			v, reasons, err := j.Watch(t.Context(), h, func() ([]Seen, error) {
				s, err := c.at(int(time.Since(began) / time.Minute))
				return []Seen{s}, err
			})
			text, took := strings.Join(reasons, "; "), time.Since(began)
			if err != nil || v != c.want || took != c.took || !strings.Contains(text, c.text) {
				t.Errorf("%s: %d after %s, %s, %v; want %+v", name, v, took, text, err, c)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j := Judge{Pointer: p, Replicas: []string{"a"}}
	if _, _, err := j.Watch(ctx, h, func() ([]Seen, error) { return nil, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestForgedReport: texts of a report have one line and an end, whoever wrote them, and a promotion
// of what a replica serves leaves it good.
func TestForgedReport(t *testing.T) {
	t.Parallel()
	const name = "replicas/stable/a.json"
	forged := "x\nr9: good\r\n\u0085replicas: 99 good\x1b[2J" + strings.Repeat("y", 1500)
	s := seen("a", pointer("s1", 0))
	s.Failed, s.Version = forged, forged
	s.Refused = &Refusal{Pointer: pointer("s2", 1), Stage: forged, Reason: forged}
	s.Refused.ID, s.Shown.ID = forged, forged
	text := testkit.Value(json.Marshal(s.Report))(t)
	r := testkit.Value(Parse(name, text))(t)
	for _, text := range []string{r.Shown.ID, r.Failed, r.Version, r.Refused.ID, r.Refused.Stage, r.Refused.Reason} {
		if len(text) > mostReason+3 || strings.ContainsFunc(text, unicode.IsControl) ||
			!strings.HasPrefix(text, "x r9: good") {
			t.Errorf("%d bytes: %.60q", len(text), text)
		}
	}
	s = seen("a", pointer("s1", 0))
	if state, why := s.State(store.Channel{Pointer: pointer("s1", 5)}, store.Channel{}); state != Good {
		t.Errorf("after a promotion: %s, %s", state, why)
	}
}

func FuzzParse(f *testing.F) {
	const name = "replicas/stable/a.json"
	text := testkit.Value(json.Marshal(seen("a", pointer("s1", 0)).Report))(f)
	f.Add(text)
	f.Add([]byte(`{"replica":"a","channel":"stable","due_seconds":1,"refused":{"id":"s1","stage":"open"}}`))
	f.Add([]byte(`{"replica":"../a","channel":"stable","due_seconds":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(name, data)
		own := fmt.Sprintf("replicas/%s/%s.json", r.Channel, r.Replica)
		if err == nil && (own != name || r.DueSeconds < 1) {
			t.Fatalf("%+v", r)
		}
	})
}
