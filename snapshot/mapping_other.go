//go:build !unix

package snapshot

import "os"

// mapFile reads the file: there is no mapping here that closes as simply.
func mapFile(path string) (m mapping, err error) {
	m.data, err = os.ReadFile(path)
	m.unmap = func() error { return nil }
	return m, err
}
