package list

import (
	"slices"
	"sync"

	"hdqs/api/contract"
	"hdqs/api/state"
)

// MountIn is the first mount with a set of names.
func (r *Routes) MountIn(names contract.NameSet) *Mount {
	return r.Mounts[slices.IndexFunc(r.Mounts, func(m *Mount) bool { return m.Names == names })]
}

// onceKey is the key of what is made once. Another one is made after damage was found in any table:
// what was made before may be wrong.
type onceKey struct {
	key   any
	found int64
}

// MadeOf is what is made of lists once a snapshot. After an error the next request tries again.
func MadeOf[T any](s *Lists, v *state.Served, key any, make func() (T, error)) (T, error) {
	of := onceKey{key: key, found: int64(len(v.Bound.RefusedTables()))} // one may be refused just now
	for i := range s.State.Inspector.Found {
		of.found += s.State.Inspector.Found[i].Load()
	}
	made := v.Keep(of, func() any { return sync.OnceValues(make) })
	t, err := made.(func() (T, error))()
	if err != nil {
		v.Kept.Delete(of)
	}
	return t, err
}
