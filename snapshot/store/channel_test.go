//go:build !race

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
)

// TestHistory: a channel keeps its previous pointers, latest first, each snapshot once, up to a
// limit.
func TestHistory(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for i := range 25 {
		putSnapshot(t, s, fmt.Sprint("s", i), smallTable("table", int64(i)))
	}
	show := func(id string, want string) {
		t.Helper()
		testkit.Must(t, s.Channels.Publish("channel", id, noon.Add(time.Hour)))
		c, err := s.Channels.History("channel")
		testkit.Must(t, err)
		got := []string{c.ID}
		for _, p := range c.Previous {
			got = append(got, p.ID)
		}
		if want != "" && strings.Join(got, " ") != want {
			t.Errorf("after %s: %s, want %s", id, strings.Join(got, " "), want)
		}
	}
	show("s0", "s0")
	show("s0", "s0")
	show("s1", "s1 s0")
	show("s2", "s2 s1 s0")
	show("s1", "s1 s2 s0")
	show("s2", "s2 s1 s0")
	for i := range 25 {
		show(fmt.Sprint("s", i), "")
	}
	c, err := s.Channels.History("channel")
	if err != nil || len(c.Previous) != maxPrevious || c.Previous[0].ID != "s23" {
		t.Errorf("%d previous pointers, %v", len(c.Previous), err)
	}
	// Reading a damaged channel is an error, but it can be published to.
	path := filepath.Join(s.Dir(), channelsDir, "channel.json")
	testkit.Must(t, os.WriteFile(path, []byte("{"), 0o644))
	if _, err := s.Channels.Channel("channel"); err == nil {
		t.Error("a damaged channel was read")
	}
	show("s3", "s3")
}

// TestChannelOfBefore: channels without previous pointers, as first written, are read.
func TestChannelOfBefore(t *testing.T) {
	t.Parallel()
	text := `{"id":"s1","published_at":"2024-03-01T12:00:00Z","sha256":"` + strings.Repeat("00", 32) + `"}`
	c, err := ParseChannel([]byte(text))
	if err != nil || c.ID != "s1" || !c.PublishedAt.Equal(noon) {
		t.Fatalf("%+v, %v", c, err)
	}
	if data, err := c.Encode(); err != nil || string(data) != text+"\n" {
		t.Errorf("written again: %s, %v", data, err)
	}
}
