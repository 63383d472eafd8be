package index

import (
	"unsafe"

	"hdqs/internal/cache"
)

// answers are what queries found, by keys of filters.
type answers struct{ *cache.Cache[string, any] }

// entryBytes is the cost of an entry besides key and value: the entry, its place in the map, and
// the headers of key and value.
const entryBytes = 160

func newAnswers(limit int) answers { return answers{cache.New[string, any](int64(limit), nil)} }

// get returns the value of a key, nil if there is none. It does not keep the key.
func (c answers) get(key []byte) any {
	value, _ := c.Get(unsafe.String(unsafe.SliceData(key), len(key)))
	return value
}

// put keeps a value of that size.
func (c answers) put(key []byte, value any, size int) {
	c.Put(string(key), value, int64(size+len(key)+entryBytes))
}
