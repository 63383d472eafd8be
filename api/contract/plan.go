package contract

import (
	"slices"
	"strings"

	"hdqs/index"
)

// PlanKey says which requests a plan is for.
type PlanKey struct {
	Endpoint *Endpoint
	Kind     Kind
}

// Plan is an endpoint prepared for reading requests of one kind. It never changes, so requests
// share it. Filters and page parameters have the same positions in the plans of all kinds.
type Plan struct {
	PlanKey
	Params []Param // in the order in which their faults are reported

	known      map[string]paramName // the parameters, by their names in both sets
	names      []string             // of Params
	byName     []int                // positions in the order of the names
	rank       []int                // by position: where it is in byName
	required   []int                // positions
	removed    map[string]string    // remedies, by the names of filters that earlier versions had
	start, end int                  // positions of start_date and end_date, -1 without
	identifier int                  // position of app_identifier
	format     int                  // position of output_format

	limitRank, offsetRank int
}

// paramName is what a name means: the position of a parameter, and whether it is the parameter's
// name in the plan's set or in the other one.
type paramName struct{ position, set int }

const (
	ownSet = iota
	otherSet
)

// NewPlan prepares an endpoint for requests of a kind.
func NewPlan(e *Endpoint, k Kind) *Plan {
	params := slices.Concat(withLists(e.Place), e.pageParams(k), withLists(e.Params), kindParams(e, k))
	p := &Plan{
		PlanKey: PlanKey{e, k}, Params: params, known: make(map[string]paramName, len(params)),
		start: -1, end: -1, rank: make([]int, len(params)),
	}
	for i, param := range p.Params {
		other := param.Twin()
		if _, has := p.known[other]; other != "" && !has {
			p.known[other] = paramName{i, otherSet}
		}
		p.known[param.Name] = paramName{i, ownSet}
		switch {
		case param.Name == IdentifierParam:
			p.identifier = i
		case param.Name == formatParam:
			p.format = i
		case param.Type == Day && param.Op == index.AtLeastOrNull:
			p.start = i
		case param.Type == Day:
			p.end = i
		case param.Required:
			p.required = append(p.required, i)
		}
		p.names = append(p.names, param.Name)
		p.byName = append(p.byName, i)
	}
	p.removed = removedOf(p)
	slices.SortFunc(p.byName, func(a, b int) int { return strings.Compare(p.names[a], p.names[b]) })
	for rank, position := range p.byName {
		p.rank[position] = rank
	}
	p.limitRank, p.offsetRank = p.rank[p.known["limit"].position], p.rank[p.known["offset"].position]
	return p
}

// Param returns the parameter with a name in the plan's set, nil if there is none.
func (p *Plan) Param(name string) *Param {
	if at, known := p.known[name]; known && at.set == ownSet {
		return &p.Params[at.position]
	}
	return nil
}

// Knows reports whether a parameter has a meaning, in either set of names.
func (p *Plan) Knows(name string) bool {
	_, known := p.known[name]
	return known || name == SnapshotParam
}

// Paths are all paths of the requests, the described one first.
func (p PlanKey) Paths() []string {
	paths := p.Endpoint.Paths()
	if p.Kind.String() != "" {
		for i := range paths {
			paths[i] += "/" + p.Kind.String()
		}
	}
	return paths
}

// Name is what the requests are called in metrics, in the contract's names.
func (p PlanKey) Name() string {
	name := p.Endpoint.Contract().Name()
	if p.Kind.String() != "" {
		name += "/" + p.Kind.String()
	}
	return name
}

// usualLimit is the limit of a request without one.
func (p *Plan) usualLimit() int {
	if p.Kind == Export {
		return NoLimit
	}
	return MaxLimit
}

// withLists returns parameters, each followed by its parameter for several values if it has one.
func withLists(params []Param) []Param {
	all := make([]Param, 0, 2*len(params))
	for _, p := range params {
		all = append(all, p)
		if p.Several {
			p.Name += SeveralSuffix
			p.Several, p.List = false, true
			if p.IsLevel() {
				p.Enum = adminLevel
			}
			all = append(all, p)
		}
	}
	return all
}

// StartParam and EndParam are the parameters with the first and the last time of records.
const (
	StartParam = "start_date"
	EndParam   = "end_date"
)

// SnapshotParam names the snapshot that must answer. It extends the contract: a caller who pages
// through a list with it sees no change between pages.
const SnapshotParam = "snapshot"

// IdentifierParam is the query parameter of the application identifier. Both name sets have it.
const IdentifierParam = "app_identifier"
