package list

import (
	"hash/maphash"
	"sync/atomic"

	"hdqs/api/contract"
)

// KnownIdentifiers caches valid identifiers: most callers soon send another request, and decoding
// an identifier costs more than a lookup. Each slot has the last identifier with its hash. The zero
// value is an empty cache.
type KnownIdentifiers [256]atomic.Pointer[string]

// maxKnownIdentifier is the longest identifier that is cached, in bytes.
const maxKnownIdentifier = 256

var identifierSeed = maphash.MakeSeed()

// check is contract.CheckIdentifier behind the cache.
func (k *KnownIdentifiers) check(value []byte, help string) *contract.Forbidden {
	slot := &k[maphash.Bytes(identifierSeed, value)%uint64(len(k))]
	if known := slot.Load(); known != nil && *known == string(value) {
		return nil
	}
	fault := contract.CheckIdentifier(value, help)
	if fault == nil && len(value) <= maxKnownIdentifier {
		text := string(value)
		slot.Store(&text)
	}
	return fault
}
