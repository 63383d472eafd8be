package api

import (
	"hash/maphash"
	"sync/atomic"

	"hdqs/api/contract"
)

// IdentifierMode says what becomes of requests without a good application identifier.
type IdentifierMode uint8

// RequireIdentifier refuses them with 403. ObserveIdentifier checks and counts them, and lets them
// pass. IgnoreIdentifier does not check.
const (
	RequireIdentifier IdentifierMode = iota
	ObserveIdentifier
	IgnoreIdentifier
)

// knownIdentifiers is a cache of good identifiers: most callers soon come again, and taking an
// identifier apart costs more than finding it here. A slot has the last one with its hash. The zero
// value is an empty cache.
type knownIdentifiers [256]atomic.Pointer[string]

// maxKnownIdentifier is the longest identifier that is remembered, in bytes.
const maxKnownIdentifier = 256

var identifierSeed = maphash.MakeSeed()

// check is CheckIdentifier with the cache before it.
func (k *knownIdentifiers) check(value []byte) *contract.Forbidden {
	slot := &k[maphash.Bytes(identifierSeed, value)%uint64(len(k))]
	if known := slot.Load(); known != nil && *known == string(value) {
		return nil
	}
	fault := contract.CheckIdentifier(value)
	if fault == nil && len(value) <= maxKnownIdentifier {
		text := string(value)
		slot.Store(&text)
	}
	return fault
}
