package snapshot

import (
	"crypto/ed25519"
	"errors"
	"os"
	"testing"
)

func newTestKeys(t *testing.T) (ed25519.PrivateKey, []ed25519.PublicKey) {
	t.Helper()
	private, public, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
	key, err := ParsePrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := ParsePublicKeys(public)
	if err != nil || len(keys) != 1 {
		t.Fatal(keys, err)
	}
	return key, keys
}

// TestTrusting: a reader who asks for signatures gets nothing that lacks one, by whatever way it reads.
func TestTrusting(t *testing.T) {
	s := newStore(t)
	key, keys := newTestKeys(t)
	_, others := newTestKeys(t)
	putSnapshot(t, s, "plain", smallTable("table", 1))
	putSnapshot(t, s.Signing(key), "signed", smallTable("table", 2))
	ways := map[string]func(*Store, string) error{
		"Manifest":     func(s *Store, id string) error { _, err := s.Manifest(id); return err },
		"ManifestFile": func(s *Store, id string) error { _, _, err := s.ManifestFile(id); return err },
		"Verify":       func(s *Store, id string) error { return s.Verify(id) },
		"Publish":      func(s *Store, id string) error { return s.Publish("channel", id, noon) },
		"Open": func(s *Store, id string) error {
			snap, err := s.Open(id)
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
	if err := s.Signing(key).Sign("plain"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trusting(keys).Manifest("plain"); err != nil {
		t.Errorf("signed afterwards: %v", err)
	}
}

// TestSignatureCoversEveryByte flips a bit of each byte of a small manifest, and of its signature.
func TestSignatureCoversEveryByte(t *testing.T) {
	s := newStore(t)
	key, keys := newTestKeys(t)
	putSnapshot(t, s.Signing(key), "s1", smallTable("table", 1))
	strict := s.Trusting(keys)
	signature, err := s.signaturePath("s1")
	if err != nil {
		t.Fatal(err)
	}
	manifest, _ := s.jsonPath(manifestsDir, "s1", "")
	for _, path := range []string{manifest, signature} {
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(good) - 1 { // but for the line's end
			bad := append([]byte{}, good...)
			bad[i] ^= 1
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := strict.Manifest("s1"); !errors.Is(err, ErrSignature) {
				t.Fatalf("%s, byte %d: %v", path, i, err)
			}
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := strict.Manifest("s1"); err != nil {
		t.Error(err)
	}
}

func TestParseKeys(t *testing.T) {
	private, public, err := NewKeys()
	if err != nil {
		t.Fatal(err)
	}
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
	if keys, err := ParsePublicKeys(append(public, public...)); err != nil || len(keys) != 2 {
		t.Errorf("two keys: %d, %v", len(keys), err)
	}
}
