package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

// absentError is about something that a store does not have, with what to do about it.
type absentError string

func (e absentError) Error() string { return string(e) }
func (e absentError) Unwrap() error { return fs.ErrNotExist }

func absent(format string, args ...any) error { return absentError(fmt.Sprintf(format, args...)) }

// storeFolders are the folders of a store, of which a store has at least one.
var storeFolders = []string{"channels", "manifests", "segments"}

// checkStore returns an error if a directory is no store.
func checkStore(dir string) error {
	info, err := os.Stat(dir)
	howTo := fmt.Sprintf("'hdqs build --catalog SRC --store %s' makes one", dir)
	switch {
	case isAbsent(err) && strings.Contains(dir, ":/"):
		return absent("--store %s: no such folder; addresses begin with s3:// or https://", dir)
	case isAbsent(err):
		return absent("--store %s: no such folder; %s", dir, howTo)
	case err != nil:
		return fmt.Errorf("--store: %w", err)
	case !info.IsDir():
		return fmt.Errorf("--store %s: want a folder, this is a file", dir)
	case hasStore(dir):
		return nil
	case hasStore(filepath.Join(dir, "store")):
		return absent("--store %s: this folder is no store; did you mean %s?", dir, filepath.Join(dir, "store"))
	}
	return absent("--store %s: this folder is no store, since it has no folder %s; %s",
		dir, strings.Join(storeFolders, ", "), howTo)
}

func hasStore(dir string) bool {
	return slices.ContainsFunc(storeFolders, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil || errors.Is(err, fs.ErrPermission)
	})
}

// channelError adds to an error about a channel that a store does not have which ones it has, where
// they can be listed.
func (s *openStore) channelError(ctx context.Context, err error) error {
	if !isAbsent(err) {
		return err
	}
	names, listErr := s.Store.Channels.Names()
	if s.Remote != nil {
		var all []objects.Object
		names = nil
		all, listErr = s.Remote.List(ctx, "channels")
		for _, o := range all {
			names = append(names, strings.TrimSuffix(path.Base(o.Name), ".json"))
		}
	}
	if listErr != nil || slices.Contains(names, s.ChannelName) {
		return err
	}
	if len(names) == 0 {
		return absent("store %s has no channel yet: 'hdqs build' or 'hdqs publish' makes one", s.address())
	}
	return absent("store %s has no channel %q; it has %s", s.address(), s.ChannelName, strings.Join(names, ", "))
}

// mostListed is how many snapshots an error lists.
const mostListed = 10

// snapshotError adds to an error about a snapshot that the store does not have which ones it has:
// all of a local store, those that the channel remembers of a remote one.
func (s *openStore) snapshotError(ctx context.Context, id string, err error) error {
	if !isAbsent(err) {
		return storeError(err)
	}
	ids, listErr := s.snapshots(ctx)
	if listErr != nil {
		return storeError(err)
	}
	if slices.Contains(ids, id) { // a file of it is missing
		return exitWith(exitVerification, err)
	}
	if len(ids) == 0 {
		return absent("store %s has no snapshot %q, nor any other", s.address(), id)
	}
	more := ""
	if n := len(ids) - mostListed; n > 0 {
		ids, more = ids[:mostListed], fmt.Sprintf(" and %d older ones", n)
	}
	return absent("store %s has no snapshot %q; it has %s%s", s.address(), id, strings.Join(ids, ", "), more)
}

// snapshots returns the ids of snapshots of the store, the latest first.
func (s *openStore) snapshots(ctx context.Context) (ids []string, err error) {
	if s.Remote == nil {
		ids, err = s.Store.Snapshots.Manifests()
		slices.Reverse(ids) // they begin with the time of the snapshot
		return ids, err
	}
	c, err := s.read(ctx, s.ChannelName)
	for _, p := range append([]store.Pointer{c.Pointer}, c.Previous...) {
		if p.ID != "" {
			ids = append(ids, p.ID)
		}
	}
	return ids, err
}

func (s *openStore) address() string {
	if s.Remote != nil {
		return s.Remote.Address()
	}
	return s.Store.Dir()
}
