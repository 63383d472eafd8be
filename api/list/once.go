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

// MadeOf is what is made of lists once a snapshot. After an error the next request tries again.
func MadeOf[T any](v *state.Served, key any, make func() (T, error)) (T, error) {
	made := v.Keep(key, func() any { return sync.OnceValues(make) })
	t, err := made.(func() (T, error))()
	if err != nil {
		v.Kept.Delete(key)
	}
	return t, err
}
