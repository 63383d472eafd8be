package api

import (
	"slices"
	"strings"

	"hdqs/api/contract"
)

// mount is a prefix of paths below which the interface is served, and the names that it has there.
type mount struct {
	prefix string // empty at the root
	names  contract.NameSet
	twin   *mount // the one with the other names
	help   string // for requests without a good identifier
	paths  []string
	lists  map[listKey]route // of the contract's lists and what is computed of them
}

// listKey names what a list route answers.
type listKey struct {
	endpoint *contract.Endpoint
	kind     contract.Kind
}

// newMounts returns the mounts of a server that has the given names at the root. HAPI names always
// have their prefix too. The root is the first.
func newMounts(root contract.NameSet) []*mount {
	mounts := []*mount{{names: root}, {prefix: contract.HAPIPrefix, names: contract.HAPINames}}
	if root != contract.ContractNames {
		mounts = append(mounts, &mount{prefix: contract.ContractPrefix, names: contract.ContractNames})
	}
	for _, m := range mounts {
		m.lists = map[listKey]route{}
		m.twin = mounts[slices.IndexFunc(mounts, func(o *mount) bool { return o.names != m.names })]
		m.help = contract.IdentifierHelp(m.names, m.prefix)
	}
	return mounts
}

// mountOf returns the mount of a path.
func (s *Server) mountOf(path string) *mount {
	for _, m := range s.mounts[1:] {
		if rest, ok := strings.CutPrefix(path, m.prefix); ok && (rest == "" || rest[0] == '/') {
			return m
		}
	}
	return s.mounts[0]
}

// addRoutes registers every path. Methods are checked in handle, so that all paths refuse the same
// ones.
func (s *Server) addRoutes() {
	for _, m := range s.mounts {
		endpoints := contract.EndpointsIn(m.names)
		for i := range endpoints {
			s.addLists(m, &endpoints[i])
		}
		for _, path := range contract.EncodePaths(m.names) {
			s.add(m, path, route{handler: s.answerEncode, name: contract.EncodePath})
		}
		s.addPages(m)
	}
}

// addLists registers the paths of an endpoint.
func (s *Server) addLists(m *mount, e *contract.Endpoint) {
	add := func(c *computation, k contract.Kind) {
		plan := contract.NewPlan(e, k)
		to := route{list: plan, computation: c, name: plan.Name()}
		m.lists[listKey{e, k}] = to
		for _, path := range plan.Paths() {
			s.add(m, path, to)
		}
	}
	add(nil, contract.Rows)
	for _, c := range s.computations {
		add(c, c.kind)
	}
}
