package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The kinds of stores.
const (
	kindDirectory = "directory"
	kindWeb       = "https"
)

// storeFault is a fault of a store.
type storeFault struct {
	name   string
	kinds  []string
	signed bool                       // the replica requires signatures
	before func(s *faultyStore) error // runs before the replica starts
	make   func(s *faultyStore) error // makes the fault; the channel shows the old snapshot before
	root   bool                       // only root can make it
}

var (
	both      = []string{kindDirectory, kindWeb}
	directory = []string{kindDirectory}
	web       = []string{kindWeb}
)

// faultsOfStores are the faults by the metric that the failed look moves.
var faultsOfStores = []struct {
	metric string
	faults []storeFault
}{
	{metricChannel, faultsOfChannels},
	{metricManifest, faultsOfManifests},
	{metricSegments, faultsOfSegments},
}

var faultsOfChannels = []storeFault{
	{name: "channel missing", kinds: both, make: func(s *faultyStore) error {
		return os.Remove(s.path(channelFile))
	}},
	{name: "channel empty", kinds: both, make: channelText("")},
	{name: "channel of garbage", kinds: both, make: channelText("\x00\xff not JSON")},
	{name: "channel of other JSON", kinds: both, make: channelText(`{"hello": [1, 2, 3]}`)},
	{name: "channel too long", kinds: both, make: channelText(strings.Repeat(" ", 1<<20))},
	{name: "channel without a signature", kinds: both, signed: true, make: pointer(func(p map[string]any) {
		delete(p, "signature")
	})},
	{name: "channel with the signature of another key", kinds: both, signed: true, make: otherKey},
	{name: "channel with an earlier time", kinds: both, signed: true, before: startLater, make: showEarlier},
	{name: "channel is a named pipe", kinds: directory, make: func(s *faultyStore) error {
		return pipeFor(s.path(channelFile))
	}},
	{name: "channel may not be read", kinds: directory, make: func(s *faultyStore) error {
		return errors.Join(showIn(s.dir, s.next), os.Chmod(s.path(channelFile), 0))
	}},
	{name: "directory gone", kinds: directory, make: func(s *faultyStore) error {
		s.later(func() error { return os.Rename(s.dir+".away", s.dir) })
		return os.Rename(s.dir, s.dir+".away")
	}},
	{name: "server answers 404", kinds: web, make: webMode(gone)},
	{name: "server answers 503", kinds: web, make: webMode(refuses)},
}

var faultsOfManifests = []storeFault{
	{name: "channel with a wrong digest", kinds: both, make: pointer(func(p map[string]any) {
		p["sha256"] = strings.Repeat("0", 64)
	})},
	{name: "channel names a missing manifest", kinds: both, make: pointer(func(p map[string]any) {
		p["id"] = "20270101T000000Z-000000000000"
	})},
	{name: "manifest truncated", kinds: both, make: manifestWith(func(b []byte) []byte { return b[:len(b)/2] })},
	{name: "manifest of garbage", kinds: both, make: manifestWith(func(b []byte) []byte {
		return bytes.Repeat([]byte("x"), len(b))
	})},
	{name: "manifest of a gigabyte", kinds: directory, make: func(s *faultyStore) error {
		if err := manifestWith(func(b []byte) []byte { return b })(s); err != nil {
			return err
		}
		return os.Truncate(s.manifest(), 1<<30) // a file with a hole takes no space
	}},
	{name: "manifest without end", kinds: web, make: func(s *faultyStore) error {
		s.web.mode.Store(endless)
		return showIn(s.dir, s.next)
	}},
}

var faultsOfSegments = []storeFault{
	{name: "segment missing", kinds: both, make: func(s *faultyStore) error {
		path, err := s.segment()
		return errors.Join(err, os.Remove(path), showIn(s.dir, s.next))
	}},
	{name: "segment truncated", kinds: both, make: segmentWith(func(b []byte) []byte { return b[:len(b)/2] })},
	{name: "segment with a flipped bit", kinds: both, make: segmentWith(func(b []byte) []byte {
		b[len(b)/2] ^= 1
		return b
	})},
	{name: "segment too long", kinds: both, make: segmentWith(func(b []byte) []byte { return append(b, 0) })},
	{name: "segment is a named pipe", kinds: directory, make: func(s *faultyStore) error {
		path, err := s.segment()
		return errors.Join(err, pipeFor(path), showIn(s.dir, s.next))
	}},
	{name: "disk full for the kept copy", kinds: web, root: true, before: smallDisk, make: fillDisk},
}

// possible returns why a fault cannot be made here.
func (f *storeFault) possible() error {
	if f.root && os.Geteuid() != 0 {
		return &notPossible{"only root may mount a small disk"}
	}
	return nil
}

func channelText(text string) func(*faultyStore) error {
	return func(s *faultyStore) error { return replaceFile(s.path(channelFile), []byte(text)) }
}

// pointer shows the next snapshot with a changed channel.
func pointer(change func(map[string]any)) func(*faultyStore) error {
	return func(s *faultyStore) error {
		var p map[string]any
		if err := json.Unmarshal(s.next.channel, &p); err != nil {
			return err
		}
		change(p)
		text, err := json.Marshal(p)
		return errors.Join(err, replaceFile(s.path(channelFile), text))
	}
}

// otherKey publishes the next snapshot with a key that the replica does not know.
func otherKey(s *faultyStore) error {
	other, err := s.d.folder("other")
	if err != nil {
		return err
	}
	defer os.RemoveAll(other)
	if err := errors.Join(linkTree(s.data.store, other), showIn(other, s.old)); err != nil {
		return err
	}
	args := []string{"publish", "--store", other, "--sign-key", s.d.key("other") + ".pem", s.next.id}
	if _, err := s.d.run(s.d.ctx, args...); err != nil {
		return err
	}
	channel, err := os.ReadFile(filepath.Join(other, channelFile))
	return errors.Join(err, replaceFile(s.path(channelFile), channel))
}

// startLater makes the replica begin with the second snapshot.
func startLater(s *faultyStore) error {
	s.old = s.data.releases[1]
	return showIn(s.dir, s.old)
}

func showEarlier(s *faultyStore) error { return showIn(s.dir, s.data.releases[0]) }

func pipeFor(path string) error {
	return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o644))
}

// manifestWith shows the next snapshot with a changed manifest.
func manifestWith(with func([]byte) []byte) func(*faultyStore) error {
	return func(s *faultyStore) error { return errors.Join(change(s.manifest(), with), showIn(s.dir, s.next)) }
}

// segmentWith shows the next snapshot with a changed segment.
func segmentWith(with func([]byte) []byte) func(*faultyStore) error {
	return func(s *faultyStore) error {
		path, err := s.segment()
		return errors.Join(err, change(path, with), showIn(s.dir, s.next))
	}
}

func webMode(mode int32) func(*faultyStore) error {
	return func(s *faultyStore) error {
		s.web.mode.Store(mode)
		return showIn(s.dir, s.next)
	}
}

// smallDisk keeps the replica's copy in a file system of a few megabytes.
func smallDisk(s *faultyStore) error {
	if err := unix.Mount("hdqs-drill", s.kept, "tmpfs", 0, "size=8m,mode=0777"); err != nil {
		return &notPossible{fmt.Sprintf("a small disk cannot be mounted: %v", err)}
	}
	s.d.unmountLater(s.kept)
	return nil
}

// fillDisk fills it.
func fillDisk(s *faultyStore) error {
	filler := filepath.Join(s.kept, "filler")
	s.later(func() error { return os.Remove(filler) })
	f, err := os.Create(filler)
	if err != nil {
		return err
	}
	defer f.Close()
	for chunk := make([]byte, 4096); ; {
		if _, err := f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			return showIn(s.dir, s.next)
		} else if err != nil {
			return err
		}
	}
}
