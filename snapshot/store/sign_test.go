package store

import (
	"crypto/ed25519"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestTrusting: a reader that requires signatures gets nothing unsigned, by any way of reading.
func TestTrusting(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key, keys := testkit.SigningKey(t)
	other, others := testkit.SigningKey(t)
	putSnapshot(t, s, "plain", smallTable("table", 1))
	putSnapshot(t, s.Signing(key), "signed", smallTable("table", 2))
	ways := map[string]func(*Store, string) error{
		"Manifest": func(s *Store, id string) error { _, err := s.Snapshots.Manifest(id); return err },
		"Verify":   func(s *Store, id string) error { return s.Verify(id) },
		"Publish":  func(s *Store, id string) error { return s.Signing(key).Channels.Publish("channel", id, noon) },
		"ManifestFile": func(s *Store, id string) error {
			data, hash, err := s.Snapshots.ManifestFile(id)
			if err == nil && hash != hashOf(data) {
				err = errors.New("another file")
			}
			return err
		},
		"Open": func(s *Store, id string) error {
			snap, err := s.Snapshots.Open(id)
			if err != nil {
				return err
			}
			return snap.Close()
		},
	}
	for name, read := range ways {
		for _, c := range []struct {
			what string
			keys []ed25519.PublicKey
			id   string
			good bool
		}{
			{"signed", keys, "signed", true},
			{"signed, several keys", append(others, keys...), "signed", true},
			{"signed by another", others, "signed", false},
			{"signed, no keys", nil, "signed", false},
			{"not signed", keys, "plain", false},
		} {
			err := read(s.Trusting(c.keys), c.id)
			if c.good && err != nil || !c.good && !errors.Is(err, ErrSignature) {
				t.Errorf("%s, %s: %v", name, c.what, err)
			}
		}
	}
	testkit.Must(t, s.Signing(key).Snapshots.Sign("plain"))
	if _, err := s.Trusting(keys).Snapshots.Manifest("plain"); err != nil {
		t.Errorf("signed afterwards: %v", err)
	}
	testkit.Must(t, s.Signing(other).Snapshots.Sign("plain"))
	if _, err := s.Trusting(others).Snapshots.Manifest("plain"); err != nil {
		t.Errorf("signed again, by another key: %v", err)
	}
}

// TestSignatureCoversEveryByte flips a bit of each byte of a small manifest and of its signature.
func TestSignatureCoversEveryByte(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key, keys := testkit.SigningKey(t)
	putSnapshot(t, s.Signing(key), "s1", smallTable("table", 1))
	strict := s.Trusting(keys)
	for _, path := range []string{s.Snapshots.Path(ManifestName("s1")), s.Snapshots.Path(SignatureName("s1"))} {
		good := testkit.ReadFile(t, path)
		for i := range len(good) - 1 { // but for the line's end
			bad := append([]byte{}, good...)
			bad[i] ^= 1
			testkit.Must(t, os.WriteFile(path, bad, 0o644))
			testkit.Fails(strict.Snapshots.Manifest("s1"))(t, ErrSignature, "%s, byte %d", path, i)
		}
		testkit.Must(t, os.WriteFile(path, good, 0o644))
	}
	testkit.Value(strict.Snapshots.Manifest("s1"))(t)
}

// TestSignedChannel: the signature of a channel's file is invalid after any change, and under
// another name.
func TestSignedChannel(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key, keys := testkit.SigningKey(t)
	_, others := testkit.SigningKey(t)
	signing := s.Signing(key)
	for i, id := range []string{"s1", "s2", "s3"} {
		putSnapshot(t, signing, id, smallTable("table", int64(i)))
		testkit.Must(t, signing.Channels.Publish("channel", id, noon.Add(time.Duration(i)*time.Minute)))
	}
	strict := s.Trusting(keys)
	c, err := strict.Channels.History("channel")
	if err != nil || c.ID != "s3" || len(c.Previous) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	testkit.Is(t, s.Trusting(others).Keys.CheckChannel("channel", c), ErrSignature, "another key")
	testkit.Is(t, strict.Keys.CheckChannel("chan", c), ErrSignature, "another name")
	for name, change := range map[string]func(*Channel){
		"id":             func(c *Channel) { c.ID = "s1" },
		"digest":         func(c *Channel) { c.SHA256 = c.Previous[0].SHA256 },
		"time":           func(c *Channel) { c.PublishedAt = c.PublishedAt.Add(1) },
		"memory cut":     func(c *Channel) { c.Previous = c.Previous[:1] },
		"memory's order": func(c *Channel) { c.Previous = []Pointer{c.Previous[1], c.Previous[0]} },
		"memory's time": func(c *Channel) {
			c.Previous = []Pointer{
				{ID: "s2", PublishedAt: noon, SHA256: c.Previous[0].SHA256},
				c.Previous[1],
			}
		},
		"figures": func(c *Channel) { c.Figures = c.SHA256 },
		"memory's figures": func(c *Channel) {
			c.Previous = slices.Clone(c.Previous)
			c.Previous[0].Figures = c.SHA256
		},
		"no signature":    func(c *Channel) { c.Signature = "" },
		"other signature": func(c *Channel) { c.Signature = s.Signing(key).Keys.SignChannel("other", *c).Signature },
		"text":            func(c *Channel) { c.Signature = "signed, honestly" },
	} {
		changed := c
		change(&changed)
		testkit.Is(t, strict.Keys.CheckChannel("channel", changed), ErrSignature, "%s", name)
		testkit.Is(t, s.Keys.CheckChannel("channel", changed), nil, "%s, signatures not required", name)
	}

	// An unsigned channel can be signed without a move.
	testkit.Must(t, s.Channels.Publish("plain", "s1", noon))
	testkit.Fails(strict.Channels.Channel("plain"))(t, ErrSignature, "published without a key")
	testkit.Must(t, signing.Channels.SignShown("plain"))
	if p, err := strict.Channels.Channel("plain"); err != nil || p.ID != "s1" || !p.PublishedAt.Equal(noon) {
		t.Errorf("signed afterwards: %+v, %v", p, err)
	}
}

// TestStaysSigned: a signed channel is not moved without a key, also if its file is damaged or its
// signature is one of a key that the writer does not trust.
func TestStaysSigned(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key, _ := testkit.SigningKey(t)
	_, others := testkit.SigningKey(t)
	for i, id := range []string{"s1", "s2"} {
		putSnapshot(t, s.Signing(key), id, smallTable("table", int64(i)))
	}
	testkit.Must(t, s.Signing(key).Channels.Publish("channel", "s1", noon))
	path := s.Snapshots.Path("channels/channel.json")
	good := testkit.ReadFile(t, path)
	for what, file := range map[string][]byte{"whole": good, "cut": good[:len(good)-3], "not JSON": good[1:]} {
		testkit.Must(t, os.WriteFile(path, file, 0o644))
		for who, writer := range map[string]*Store{"no key": s, "another's public key": s.Trusting(others)} {
			if err := writer.Channels.Publish("channel", "s2", noon.Add(time.Hour)); err == nil {
				t.Errorf("%s, %s: the channel has moved", what, who)
			} else if who == "no key" && !errors.Is(err, ErrUnsigned) {
				t.Errorf("%s: %v", what, err)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != string(file) {
				t.Errorf("%s, %s: the file is now %s, %v", what, who, now, err)
			}
		}
		if err := s.Signing(key).Channels.Publish("channel", "s2", noon.Add(time.Hour)); err != nil {
			t.Errorf("%s, with the key: %v", what, err)
		}
	}
}

// TestSignsWhatWasUnsigned: a move with the key signs the manifest of a snapshot from before the
// store was signed, unless that is not the one that the channel remembers, or the channel was
// signed by another key. A signature that is there stays.
func TestSignsWhatWasUnsigned(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	key, keys := testkit.SigningKey(t)
	other, _ := testkit.SigningKey(t)
	signing, strict := s.Signing(key), s.Trusting(keys)
	move := func(by *Store, id string) error { return by.Channels.Publish("channel", id, noon) }
	putSnapshot(t, s, "s1", smallTable("table", 1))
	putSnapshot(t, signing, "s2", smallTable("table", 2))
	testkit.Must(t, errors.Join(move(s, "s1"), move(signing, "s2")))
	testkit.Is(t, move(s.Signing(other), "s1"), ErrSignature, "by another key")
	testkit.Must(t, move(signing, "s1"))
	testkit.Is(t, strict.Verify("s1"), nil, "after a move back")
	testkit.Must(t, errors.Join(move(signing, "s2"), move(s.Signing(other), "s1")))
	testkit.Is(t, strict.Verify("s1"), nil, "after a move by another key")

	signature, manifest := s.Snapshots.Path(SignatureName("s2")), s.Snapshots.Path(ManifestName("s2"))
	text := testkit.ReadFile(t, manifest)
	changed := strings.Replace(string(text), `"s2"`, `"s2" `, 1)
	testkit.Must(t, errors.Join(os.Remove(signature), os.WriteFile(manifest, []byte(changed), 0o644)))
	if err := move(signing, "s1"); err != nil { // so that the channel is signed by the key again
		t.Fatal(err)
	}
	testkit.Is(t, move(signing, "s2"), snapshot.ErrCorrupt, "a changed manifest")
	if _, err := os.Stat(signature); err == nil {
		t.Error("a changed manifest was signed")
	}
}

// TestSteps: a channel's time only moves forward, and a reader that requires signatures does not
// follow it back.
func TestSteps(t *testing.T) {
	t.Parallel()
	key, keys := testkit.SigningKey(t)
	s := newStore(t).Signing(key)
	strict := s.Trusting(keys)
	step := func(by *Store, from, to Channel) error {
		return by.Keys.CheckStep("c", s.Keys.SignChannel("c", from), to)
	}
	pointer := func(id string, at time.Time) Pointer {
		return Pointer{ID: id, PublishedAt: at, SHA256: strings.Repeat("0", 64)}
	}
	c := Channel{}.Moved(pointer("s1", noon))
	for _, next := range []struct {
		at   time.Time
		want time.Duration // after noon
	}{
		{noon.Add(time.Minute), time.Minute},
		{noon.Add(time.Minute), 61 * time.Second},
		{noon.Add(-time.Hour), 62 * time.Second},
		{noon.Add(90*time.Second + 1), 90*time.Second + 1},
		{noon, 91 * time.Second},
		{noon.Add(91*time.Second + 5e8), 92 * time.Second},
	} {
		was := c
		c = c.Moved(pointer("s2", next.at))
		testkit.Equal(t, c.PublishedAt.Sub(noon), next.want, "published after")
		testkit.Must(t, step(strict, was, c))
		if err := step(strict, c, was); !errors.Is(err, ErrSignature) ||
			step(s, c, was) != nil {
			t.Errorf("back from %s: %v", c.PublishedAt, err)
		}
	}
	if err := step(strict, c, Channel{Pointer: pointer("s3", c.PublishedAt)}); !errors.Is(err, ErrSignature) {
		t.Errorf("another snapshot of the same time: %v", err)
	}
	if step(strict, c, c) != nil || strict.Keys.CheckStep("c", Channel{}, c) != nil {
		t.Error("an unchanged pointer or the first one is refused")
	}
	if strict.Keys.CheckStep("c", c, Channel{}.Moved(pointer("s1", noon))) != nil {
		t.Error("a state that nobody has signed counts")
	}
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	private, public, err := NewKeys()
	testkit.Must(t, err)
	for _, text := range []string{"", "key", string(private), string(public) + string(private)} {
		if keys, err := ParsePublicKeys([]byte(text)); err == nil {
			t.Errorf("public keys of %q: %v", text, keys)
		}
	}
	for _, text := range []string{"", "key", string(public)} {
		if _, err := ParsePrivateKey([]byte(text)); err == nil {
			t.Errorf("private key of %q", text)
		}
	}
	key := testkit.Value(ParsePrivateKey(private))(t)
	if keys, err := ParsePublicKeys(append(public, public...)); err != nil || len(keys) != 2 ||
		!keys[1].Equal(key.Public()) {
		t.Errorf("two keys: %d, %v", len(keys), err)
	}
}
