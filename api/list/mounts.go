package list

import (
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/state"
)

// Mount is a prefix of paths below which the interface is served, and the names that it has there.
type Mount struct {
	Prefix      string // empty at the root
	Names       contract.NameSet
	MadeUp      bool   // the figures are, so pages say it
	BaseURL     string // address of the service, empty if it is not known
	Counterpart *Mount // the one with the other names
	help        string // for requests without a good identifier
	Paths       []string
	Kinds       []contract.Kind   // of what is computed of lists
	Lists       map[ListKey]Route // of lists, what is computed of them, and figures
}

// NewMounts returns the mounts of a server. HAPI names always have their prefix too. The root is
// the first.
func NewMounts(o *state.Options, kinds []contract.Kind) []*Mount {
	root := o.Names
	mounts := []*Mount{{Names: root}, {Prefix: contract.HAPIPrefix, Names: contract.HAPINames}}
	if root != contract.ContractNames {
		mounts = append(mounts, &Mount{Prefix: contract.ContractPrefix, Names: contract.ContractNames})
	}
	for _, m := range mounts {
		m.Lists, m.MadeUp, m.BaseURL, m.Kinds = map[ListKey]Route{}, o.MadeUp, o.BaseURL, kinds
		m.Counterpart = mounts[slices.IndexFunc(mounts, func(o *Mount) bool { return o.Names != m.Names })]
		m.help = contract.IdentifierHelp(m.Names, m.Prefix)
	}
	return mounts
}

// AllDescribed is the path, below the prefix, of the description of everything.
func (m *Mount) AllDescribed() string {
	if m.Names == contract.HAPINames {
		return contract.DescriptionOfAll
	}
	return "/openapi.json"
}

// MountOf returns the mount of a path.
func (r *Routes) MountOf(path string) *Mount {
	for _, m := range r.Mounts[1:] {
		if rest, ok := strings.CutPrefix(path, m.Prefix); ok && (rest == "" || rest[0] == '/') {
			return m
		}
	}
	return r.Mounts[0]
}
