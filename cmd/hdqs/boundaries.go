package main

import (
	"errors"
	"fmt"
	"os"

	"hdqs/api/boundary"
)

// readBoundaries reads the file of --boundaries, and returns nil without one.
func (f *serveFlags) readBoundaries() (*boundary.Set, error) {
	if f.boundaries == "" {
		if f.whose != "" {
			return nil, errors.New("--boundaries-source says whose boundaries --boundaries has; it is not set")
		}
		return nil, nil
	}
	file, err := os.Open(f.boundaries)
	if err != nil {
		return nil, fmt.Errorf("--boundaries: %w", err)
	}
	defer file.Close()
	set, err := boundary.Read(file, f.whose)
	if err != nil {
		return nil, fmt.Errorf("--boundaries %s: %w", f.boundaries, err)
	}
	return set, nil
}
