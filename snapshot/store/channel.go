package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"hdqs/snapshot"
)

// Channel is the content of a channel's file: the current pointer and the previous ones, latest
// first. They are in one file so that they change in one step, also where a conditional write of
// one object is all there is.
type Channel struct {
	Pointer
	Previous  []Pointer `json:"previous,omitempty"`
	Canary    *Canary   `json:"canary,omitempty"`    // nil for a channel that all replicas follow
	Signature string    `json:"signature,omitempty"` // of the fields above and the channel's name, in base64
}

// maxPrevious is the number of previous pointers in a channel.
const maxPrevious = 16

// ParseChannel parses a channel's file.
func ParseChannel(data []byte) (c Channel, err error) {
	if len(data) > MaxChannel {
		return Channel{}, corruptf("channel of %d bytes, at most %d are read", len(data), MaxChannel)
	}
	if err := decodeStrict(data, &c); err != nil {
		return Channel{}, corruptf("channel: %v", err)
	}
	if len(c.Previous) > maxPrevious {
		return Channel{}, corruptf("channel to %s has %d previous snapshots, at most %d are possible", c.ID,
			len(c.Previous), maxPrevious)
	}
	all := append(slices.Clone(c.Previous), c.Pointer)
	if c.Canary != nil {
		if c.Canary.Percent < 1 || c.Canary.Percent > 100 {
			return Channel{}, corruptf("channel to %s is for %d %% of replicas, want 1 to 100", c.ID, c.Canary.Percent)
		}
		all = append(all, c.Canary.Of)
	}
	if len(c.Signature) > MaxSignature {
		return Channel{}, corruptf("channel to %s has a signature of %d bytes, at most %d are read", c.ID,
			len(c.Signature), MaxSignature)
	}
	for _, p := range all {
		if err := p.check(); err != nil {
			return Channel{}, err
		}
	}
	return c, nil
}

func (p Pointer) check() error {
	if err := CheckID(p.ID); err != nil {
		return corruptf("channel: %v", err)
	}
	if err := checkHash(p.SHA256); err != nil {
		return corruptf("channel to %s: %v", p.ID, err)
	}
	if p.Figures == "" {
		return nil
	}
	if err := checkHash(p.Figures); err != nil {
		return corruptf("channel to %s: figures: %v", p.ID, err)
	}
	return nil
}

// Moved returns the channel after it moves to p, without a signature. The zero Channel has pointed
// to nothing yet. A channel's time only moves forward, by at least one second, whatever clocks say:
// readers treat the later of two times as current, and HTTP dates have whole seconds.
//
// A publication without figures drops those of the previous pointers too: programs from before
// there were figures can read the channel then.
func (c Channel) Moved(p Pointer) Channel {
	p.PublishedAt = p.PublishedAt.UTC().Round(0)
	if earliest := c.PublishedAt.UTC().Truncate(time.Second).Add(time.Second); c.ID != "" &&
		p.PublishedAt.Before(earliest) {
		p.PublishedAt = earliest
	}
	next := Channel{Pointer: p}
	for _, old := range append([]Pointer{c.Pointer}, c.Previous...) {
		if p.Figures == "" {
			old.Figures = ""
		}
		if old.ID != "" && old.ID != p.ID && len(next.Previous) < maxPrevious {
			next.Previous = append(next.Previous, old)
		}
	}
	return next
}

// Encode returns the channel's file.
func (c Channel) Encode() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("channel to %s: %w", c.ID, err)
	}
	return append(data, '\n'), nil
}

// Channels are the channels of a store.
type Channels struct{ snapshots *Snapshots }

// Names are the names of all channels, sorted.
func (s *Channels) Names() ([]string, error) { return NamesIn(s.snapshots.Path(channelsDir)) }

// Next makes a channel that shows a snapshot out of what the channel shows now, which is zero if
// there is no such channel.
type Next func(before Channel, p Pointer) Channel

// PublishAt is the Next of a publication.
func PublishAt(at time.Time) Next {
	return func(before Channel, p Pointer) Channel {
		p.PublishedAt = at
		return before.Moved(p)
	}
}

// WithFigures is a Next whose publication has a file of figures, by its SHA-256.
func (n Next) WithFigures(hash string) Next {
	return func(before Channel, p Pointer) Channel {
		p.Figures = hash
		return n(before, p)
	}
}

// Publish moves a channel to a snapshot of the store. A signed channel is moved only with a key.
func (s *Channels) Publish(channel, id string, at time.Time) error {
	return s.Move(channel, id, PublishAt(at))
}

// Move is Publish for any change of a channel.
func (s *Channels) Move(channel, id string, next Next) error {
	name, err := ChannelName(channel)
	if err != nil {
		return err
	}
	m, hash, err := s.snapshots.manifest(id)
	if err != nil {
		return err
	}
	err = s.snapshots.keys.CheckMove(channel, s.IsSigned(channel))
	if err = errors.Join(err, s.snapshots.segments.checkSegments(m)); err != nil {
		return err
	}
	before, err := s.History(channel)
	// A channel that is damaged or not signed by a trusted key loses its previous pointers, but
	// must not prevent a good snapshot from being published.
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, snapshot.ErrCorrupt) &&
		!errors.Is(err, ErrSignature) {
		return err
	}
	p := Pointer{ID: id, SHA256: hash}
	if err := s.signFor(channel, before, p); err != nil {
		return err
	}
	data, err := s.snapshots.keys.SignChannel(channel, next(before, p)).Encode()
	if err != nil {
		return err
	}
	return s.snapshots.PutFile(name, data)
}

// AddChannel stores a channel exactly as it is in the store its snapshot comes from.
func (s *Channels) AddChannel(channel string, c Channel) error {
	name, err := ChannelName(channel)
	if err != nil {
		return err
	}
	if _, err := s.snapshots.Published(c.Pointer); err != nil {
		return err
	}
	data, err := c.Encode()
	if err != nil {
		return err
	}
	return s.snapshots.PutFile(name, data)
}

// Channel reads what a channel points to. Without the channel the error is fs.ErrNotExist.
func (s *Channels) Channel(name string) (Pointer, error) {
	c, err := s.History(name)
	return c.Pointer, err
}

// History reads a channel with its previous pointers. Without the channel the error is
// fs.ErrNotExist.
func (s *Channels) History(name string) (Channel, error) {
	c, err := s.readChannel(name)
	if err == nil {
		err = s.snapshots.keys.CheckChannel(name, c)
	}
	if err != nil {
		return Channel{}, err
	}
	return c, nil
}

func (s *Channels) readChannel(channel string) (Channel, error) {
	data, err := s.channelFile(channel)
	if err != nil {
		return Channel{}, err
	}
	c, err := ParseChannel(data)
	if err != nil {
		return Channel{}, fmt.Errorf("%s: %w", filepath.Join(s.snapshots.dir, channelsDir, channel+jsonExt), err)
	}
	return c, nil
}

func (s *Channels) channelFile(channel string) ([]byte, error) {
	name, _ := ChannelName(channel) // read checks it
	return s.snapshots.read(channel, name, MaxChannel)
}
