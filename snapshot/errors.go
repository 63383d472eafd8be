package snapshot

import (
	"errors"
	"fmt"
)

// The errors of this package, one meaning each. The message names the thing, the value and the
// bound.
var (
	// ErrCorrupt marks bytes that are not a valid segment, or in a store not a valid manifest or
	// channel.
	ErrCorrupt = errors.New("snapshot: corrupt")
	// ErrNoColumn marks a column name that a segment does not have.
	ErrNoColumn = errors.New("snapshot: no such column")
	// ErrTable marks a TableData that contradicts itself.
	ErrTable = errors.New("snapshot: invalid table")
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
