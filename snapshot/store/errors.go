package store

import (
	"errors"
	"fmt"

	"hdqs/snapshot"
)

// The errors of this package, besides snapshot.ErrCorrupt, which also marks manifests and channels
// that are not valid.
var (
	// ErrName marks an id, channel or hash that must not become a file name.
	ErrName = errors.New("snapshot: invalid name")
	// ErrSignature marks a manifest or channel without the signature of a trusted key, or a channel
	// that was moved back.
	ErrSignature = errors.New("snapshot: signature refused")
	// ErrUnsigned marks a move that would leave a signed channel without a signature.
	ErrUnsigned = errors.New("moving it needs --sign-key")
	// ErrLocked marks a store that another process is writing to.
	ErrLocked = errors.New("snapshot: store is in use")
)

// ManifestError marks errors of reading a manifest, rather than a channel or a segment.
type ManifestError struct{ Err error }

func (e *ManifestError) Error() string { return e.Err.Error() }

// Unwrap returns the error that is marked.
func (e *ManifestError) Unwrap() error { return e.Err }

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", snapshot.ErrCorrupt, fmt.Sprintf(format, args...))
}

func namef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrName, fmt.Sprintf(format, args...))
}
