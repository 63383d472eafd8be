package store

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"time"
)

// A signature is an ed25519 signature of the bytes of a manifest's file, in base64 with a line end.
// The manifest has the digests of its segments, so the signature covers every row. It proves who
// made a snapshot, not that the snapshot is the current one. That is proved by the signature in the
// channel's file, which covers the channel's name, its pointers and their times. So someone who can
// write to a store but has no key can neither publish another snapshot nor replace the file by that
// of another channel. Putting back an old file of the same channel is refused by readers that have
// seen a later one (CheckStep).
const (
	signatureExt = ".sig"
	maxKeys      = 64 << 10
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
)

// Keys sign what a writer makes, and check what a reader finds. They know no files.
type Keys struct {
	signer  ed25519.PrivateKey                   // signs manifests and channels; nil: not signed
	trusted *atomic.Pointer[[]ed25519.PublicKey] // keys whose signatures are accepted, for all copies
	strict  bool                                 // refuse what no trusted key has signed
}

// Signing returns the same store for a writer with a key: PutManifest and Publish sign what they
// write.
func (s *Store) Signing(key ed25519.PrivateKey) *Store {
	keys := *s.Keys
	keys.signer = key
	return assemble(s.Snapshots.dir, keys, s.Snapshots.recent)
}

// Trusting returns the same store for a reader that requires signatures: everything that reads a
// manifest or channel returns ErrSignature unless one of the keys has signed it. Several keys allow
// an old and a new one at the same time.
func (s *Store) Trusting(keys []ed25519.PublicKey) *Store {
	return assemble(s.Snapshots.dir, trustingKeys(s.Keys.signer, keys), s.Snapshots.recent)
}

func trustingKeys(signer ed25519.PrivateKey, keys []ed25519.PublicKey) Keys {
	k := Keys{signer: signer, trusted: new(atomic.Pointer[[]ed25519.PublicKey]), strict: true}
	k.trusted.Store(&keys)
	return k
}

// Trust replaces the keys of Trusting, in all copies of the store and for all goroutines.
func (k *Keys) Trust(keys []ed25519.PublicKey) { k.trusted.Store(&keys) }

// IsStrict reports whether signatures are required.
func (k *Keys) IsStrict() bool { return k.strict }

// Sign signs an existing manifest with the key of Signing, unless it has that signature.
func (s *Snapshots) Sign(id string) error {
	data, err := s.manifestFile(id)
	if err != nil {
		return err
	}
	signature := encodeSignature(s.keys.signer, data)
	if old, err := s.Signature(id); err == nil && string(old) == string(signature) {
		return nil
	}
	return s.putSignature(id, signature)
}

// SignChannel returns a channel with the signature of Signing's key. Without a key it returns the
// channel unchanged.
func (k *Keys) SignChannel(name string, c Channel) Channel {
	if k.signer != nil {
		c.Signature = strings.TrimSpace(string(encodeSignature(k.signer, c.signedText(name))))
	}
	return c
}

// SignatureFor returns the signature that a manifest lacks before a channel moves to it; nil if it
// lacks none, or if there is no key. What the channel remembers about the snapshot must agree:
// nobody without the key can have a changed manifest signed by removing its signature. One by
// another key, which may be withdrawn, is replaced only if the channel remembers the manifest.
func (k *Keys) SignatureFor(channel string, before Channel, p Pointer, data, old []byte) ([]byte, error) {
	isOther, vouched := k.IsOtherKey(channel, before), len(old) == 0
	if k.signer == nil || isOther && !vouched {
		return nil, nil
	}
	if isOther {
		return nil, fmt.Errorf("%w: manifest %s has no signature, and channel %s, which would vouch for it, "+
			"has none by this key", ErrSignature, p.ID, channel)
	}
	for _, known := range append([]Pointer{before.Pointer}, before.Previous...) {
		switch {
		case known.ID != p.ID:
		case known.SHA256 == p.SHA256:
			vouched = true
		case len(old) == 0:
			return nil, corruptf("manifest %s has the SHA-256 %s, published was %s", p.ID, p.SHA256, known.SHA256)
		}
	}
	if signature := encodeSignature(k.signer, data); vouched && !bytes.Equal(signature, old) {
		return signature, nil
	}
	return nil, nil
}

// signFor writes the signature of SignatureFor, if there is one.
func (s *Channels) signFor(channel string, before Channel, p Pointer) error {
	data, err := s.snapshots.manifestFile(p.ID)
	if err != nil {
		return err
	}
	old, err := s.snapshots.Signature(p.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	signature, err := s.snapshots.keys.SignatureFor(channel, before, p, data, old)
	if err != nil || signature == nil {
		return err
	}
	return s.snapshots.putSignature(p.ID, signature)
}

// CheckMove refuses to move a signed channel without a key: readers that require signatures would
// stay where they are. The error is ErrUnsigned.
func (k *Keys) CheckMove(name string, signed bool) error {
	if signed && k.signer == nil {
		return fmt.Errorf("channel %s is signed: %w", name, ErrUnsigned)
	}
	return nil
}

// IsSigned reports whether a channel has a signature, valid or not, also if its file is damaged.
func (s *Channels) IsSigned(name string) bool {
	data, err := s.channelFile(name)
	return err == nil && bytes.Contains(data, []byte(`"signature"`))
}

// IsOtherKey reports whether a signed channel has no valid signature by the key of Signing.
func (k *Keys) IsOtherKey(name string, c Channel) bool {
	if k.signer == nil || c.Signature == "" {
		return false
	}
	own := trustingKeys(nil, []ed25519.PublicKey{k.signer.Public().(ed25519.PublicKey)})
	return own.CheckChannel(name, c) != nil
}

// SignShown signs an existing channel with the key of Signing, unless it has that signature.
func (s *Channels) SignShown(name string) error {
	c, err := s.readChannel(name)
	if err != nil {
		return err
	}
	signed := s.snapshots.keys.SignChannel(name, c)
	if signed.Signature == c.Signature {
		return nil
	}
	return s.AddChannel(name, signed)
}

// signedText is what the signature of a channel covers. No manifest starts like it.
func (c Channel) signedText(name string) []byte {
	text := fmt.Appendf(nil, "channel %s\n", name)
	for _, p := range append([]Pointer{c.Pointer}, c.Previous...) {
		text = p.appendText(text)
	}
	if c.Canary != nil {
		text = c.Canary.Of.appendText(fmt.Appendf(text, "canary %d\n", c.Canary.Percent))
	}
	return text
}

func (p Pointer) appendText(text []byte) []byte {
	text = fmt.Appendf(text, "%s %s %s", p.ID, p.SHA256, p.PublishedAt.UTC().Format(time.RFC3339Nano))
	if p.Figures != "" {
		text = fmt.Appendf(text, " %s", p.Figures)
	}
	return append(text, '\n')
}

// CheckChannel checks the signature of a channel, if the store requires signatures. The error is
// ErrSignature.
func (k *Keys) CheckChannel(name string, c Channel) error {
	return k.checkSignature("channel "+name, c.signedText(name), []byte(c.Signature))
}

// CheckStep refuses to follow a channel back to an earlier state, if the store requires signatures:
// an old file is signed, but can be put back by someone without a key. A rollback is a step
// forward, with a new time. A state that no trusted key has signed counts for nothing: it is from
// before signatures were required, or from before its key was withdrawn. The error is ErrSignature.
func (k *Keys) CheckStep(name string, from, to Channel) error {
	if !k.strict || k.CheckChannel(name, from) != nil || from.Same(to.Pointer) ||
		to.PublishedAt.After(from.PublishedAt) {
		return nil
	}
	return fmt.Errorf("%w: channel %s was moved back, to %s of %s, after it had shown %s of %s; if that is right, "+
		"move it again with 'hdqs publish' or 'hdqs rollback' and --sign-key", ErrSignature, name, to.ID,
		to.PublishedAt.Format(time.RFC3339), from.ID, from.PublishedAt.Format(time.RFC3339))
}

// Signature reads the signature file of a manifest. Without one the error is fs.ErrNotExist.
func (s *Snapshots) Signature(id string) ([]byte, error) {
	return s.read(id, SignatureName(id), MaxSignature)
}

// putSignature writes the signature of a manifest that was read or is about to be written.
func (s *Snapshots) putSignature(id string, signature []byte) error {
	return s.PutFile(SignatureName(id), signature)
}

// checkSigned checks the signature in the store, if the store requires signatures.
func (s *Snapshots) checkSigned(id string, manifest []byte) error {
	if !s.keys.strict {
		return nil
	}
	signature, err := s.Signature(id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.keys.checkSignature("manifest "+id, manifest, signature)
}

func (k *Keys) checkSignature(what string, text, signature []byte) error {
	if !k.strict {
		return nil
	}
	if len(signature) == 0 {
		return fmt.Errorf("%w: %s has no signature", ErrSignature, what)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.TrimSpace(string(signature)))
	if err != nil || len(raw) != ed25519.SignatureSize {
		return fmt.Errorf("%w: the signature of %s is not %d bytes in base64", ErrSignature, what,
			ed25519.SignatureSize)
	}
	trusted := *k.trusted.Load()
	for _, key := range trusted {
		if ed25519.Verify(key, text, raw) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s is not signed by any of the %d trusted keys", ErrSignature, what, len(trusted))
}

// SignText signs a text about something else than a manifest or channel with the key of Signing.
// The signature covers what the text is about, so that it fits no other. It is nil without a key.
func (k *Keys) SignText(about string, text []byte) []byte {
	if k.signer == nil {
		return nil
	}
	return encodeSignature(k.signer, aboutText(about, text))
}

// CheckText checks the signature of SignText, if the store requires signatures. The error is
// ErrSignature.
func (k *Keys) CheckText(about string, text, signature []byte) error {
	return k.checkSignature(about, aboutText(about, text), signature)
}

// aboutText puts a line before a text. No manifest starts like it, and no channel's text.
func aboutText(about string, text []byte) []byte { return fmt.Appendf(nil, "text %s\n%s", about, text) }

func encodeSignature(key ed25519.PrivateKey, text []byte) []byte {
	return []byte(base64.StdEncoding.EncodeToString(ed25519.Sign(key, text)) + "\n")
}

// NewKeys makes a key pair in the PEM texts that ParsePrivateKey and ParsePublicKeys parse.
func NewKeys() (private, public []byte, err error) {
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(priv)
	if err != nil {
		return nil, nil, err
	}
	open, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return nil, nil, err
	}
	private = pem.EncodeToMemory(&pem.Block{Type: privateBlock, Bytes: secret})
	public = pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: open})
	return private, public, nil
}

// ParsePrivateKey parses an ed25519 key in PKCS #8, PEM.
func ParsePrivateKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != privateBlock {
		return nil, fmt.Errorf("no PEM block %q", privateBlock)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a key of type %T, want ed25519", key)
	}
	return private, nil
}

// ParsePublicKeys parses one or more ed25519 keys, each in a PEM block.
func ParsePublicKeys(text []byte) ([]ed25519.PublicKey, error) {
	if len(text) > maxKeys {
		return nil, fmt.Errorf("%d bytes of keys, at most %d are read", len(text), maxKeys)
	}
	var keys []ed25519.PublicKey
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		text = rest
		if block.Type != publicBlock {
			return nil, fmt.Errorf("PEM block %q, want %q", block.Type, publicBlock)
		}
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, err
		}
		public, ok := key.(ed25519.PublicKey)
		if !ok {
			return nil, fmt.Errorf("a key of type %T, want ed25519", key)
		}
		keys = append(keys, public)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("no PEM block %q", publicBlock)
	}
	return keys, nil
}
