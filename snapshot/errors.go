package snapshot

import (
	"errors"
	"fmt"
)

// The errors of this package, one meaning each; messages around them name the thing, the value and the bound.
var (
	// ErrCorrupt marks bytes that are not a valid segment, manifest or pointer.
	ErrCorrupt = errors.New("snapshot: corrupt")
	// ErrNoColumn marks a column name that a segment does not hold.
	ErrNoColumn = errors.New("snapshot: no such column")
	// ErrTable marks a TableData that contradicts itself.
	ErrTable = errors.New("snapshot: invalid table")
	// ErrName marks an id, channel or hash that must not become a file name.
	ErrName = errors.New("snapshot: invalid name")
	// ErrSignature marks a manifest or channel that no trusted key has signed, or that is not the one to show any more.
	ErrSignature = errors.New("snapshot: signature refused")
	// ErrLocked marks a store that another load is writing to.
	ErrLocked = errors.New("snapshot: store is in use")
)

func corruptf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

func noColumnf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNoColumn, fmt.Sprintf(format, args...))
}

func tablef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTable, fmt.Sprintf(format, args...))
}

func namef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrName, fmt.Sprintf(format, args...))
}
