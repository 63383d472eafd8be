package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestCanary: a canary is for the replicas of its share, as long as the main channel stays. It ends
// with a step forward, and a collection keeps what the replicas of both channels need.
func TestCanary(t *testing.T) {
	t.Parallel()
	key, keys := testkit.SigningKey(t)
	s := newStore(t).Signing(key)
	for i, id := range []string{"s1", "s2", "s3"} {
		putSnapshot(t, s, id, smallTable("a", int64(i)))
	}
	testkit.Must(t, s.Channels.Publish("stable", "s1", noon))
	read := func(name string) Channel {
		t.Helper()
		c, err := s.Trusting(keys).Channels.History(name)
		testkit.Must(t, err)
		return c
	}
	const share = 30
	canaryName := CanaryOf("stable")
	testkit.Must(t, s.Channels.Move(canaryName, "s2", StartCanary(read("stable"), share, noon.Add(time.Hour))))
	main, canary := read("stable"), read(canaryName)
	followers := 0
	for i := range 1000 {
		name := fmt.Sprintf("replica-%d", i)
		if follows := canary.Concerns(name, main); follows != (Bucket(name) < share) {
			t.Errorf("%s: %t with the number %d", name, follows, Bucket(name))
		} else if follows {
			followers++
		}
	}
	if followers < 240 || followers > 360 {
		t.Errorf("%d of 1000 replicas follow a canary for 30 per cent", followers)
	}
	if all := (Channel{Pointer: canary.Pointer, Canary: &Canary{100, main.Pointer}}); all.Concerns("", main) {
		t.Error("a replica without a name follows a canary")
	}
	if main.ID != "s1" || canary.ID != "s2" || canary.Previous[0].ID != "s1" {
		t.Errorf("channel %s, canary %+v", main.ID, canary)
	}
	for what, change := range map[string]func(*Canary){
		"percent": func(c *Canary) { c.Percent++ }, "snapshot": func(c *Canary) { c.Of.ID = "s3" },
		"time": func(c *Canary) { c.Of.PublishedAt = noon.Add(1) },
	} {
		forged := canary
		forged.Canary = &Canary{canary.Canary.Percent, canary.Canary.Of}
		change(forged.Canary)
		if err := s.Trusting(keys).Keys.CheckChannel(canaryName, forged); !errors.Is(err, ErrSignature) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	forged := canary
	forged.Canary = nil
	if err := s.Trusting(keys).Keys.CheckChannel(canaryName, forged); !errors.Is(err, ErrSignature) {
		t.Errorf("no canary: %v", err)
	}

	age(t, s, time.Now(), 100*time.Hour)
	found, err := Collect(t.Context(), s.Files(), CollectOptions{})
	if err != nil || len(found.Manifests) != 1 || found.Manifests[0] != "s3" {
		t.Errorf("collected %+v, %v; want s3", found, err)
	}

	putSnapshot(t, s, "s3", smallTable("a", 2))
	testkit.Must(t, s.Channels.Move(canaryName, "s1", EndCanary(noon))) // the clock has gone back
	ended := read(canaryName)
	if ended.ID != "s1" || !ended.PublishedAt.After(canary.PublishedAt) || !ended.IsOf(main) ||
		ended.Previous[0].ID != "s2" {
		t.Errorf("ended: %+v", ended)
	}
	testkit.Must(t, s.Channels.Move(canaryName, "s3", StartCanary(main, 1, noon)))
	if next := read(canaryName); !next.PublishedAt.After(ended.PublishedAt) {
		t.Errorf("the next canary is of %s, the one before of %s", next.PublishedAt, ended.PublishedAt)
	}
	testkit.Must(t, s.Channels.Publish("stable", "s2", noon.Add(time.Minute)))
	if moved := read("stable"); read(canaryName).IsOf(moved) {
		t.Error("the canary goes on though the main channel has moved")
	}
	for _, percent := range []int{-1, 0, 101} {
		bad := ended
		bad.Canary = &Canary{percent, main.Pointer}
		text, err := bad.Encode()
		testkit.Must(t, err)
		if _, err := ParseChannel(text); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("%d per cent: %v", percent, err)
		}
	}
}

// TestReplicaReports: reports have their names, and a collection removes those that nobody renews.
func TestReplicaReports(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for _, name := range []string{"", "..", "../x", "a/b", ".a"} {
		if got, err := ReplicaName("stable", name); err == nil {
			t.Errorf("%q: %s", name, got)
		}
	}
	for name, age := range map[string]time.Duration{"new": time.Hour, "old": forgetAfter + time.Hour} {
		path, err := ReplicaName("stable", name)
		testkit.Must(t, err)
		testkit.Must(t, s.Snapshots.PutFile(path, []byte("{}")))
		at := time.Now().Add(-age)
		testkit.Must(t, os.Chtimes(filepath.Join(s.Dir(), path), at, at))
	}
	_, err := Collect(t.Context(), s.Files(), CollectOptions{})
	testkit.Must(t, err)
	left, err := NamesIn(filepath.Join(s.Dir(), ReplicasDir, "stable"))
	if err != nil || len(left) != 1 || left[0] != "new" {
		t.Errorf("left %q, %v", left, err)
	}
}
