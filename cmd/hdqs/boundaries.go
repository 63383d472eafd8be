package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"hdqs/api/boundary"
)

// readBoundaries reads the file of --boundaries and says what it has. It returns nil without one.
func (f *serveFlags) readBoundaries(messages io.Writer) (*boundary.Set, error) {
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
	fmt.Fprintf(messages, "boundaries: %d countries, %d first-level units, %d second-level units of %s\n",
		set.Features[0], set.Features[1], set.Features[2], f.boundaries)
	if set.Uncoded > 0 {
		fmt.Fprintf(messages, "boundaries: %d features without a code are land without figures\n", set.Uncoded)
	}
	return set, nil
}
