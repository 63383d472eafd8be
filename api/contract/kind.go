package contract

import "strings"

// Kind is what is made of the rows that pass a request's filters.
type Kind uint8

// The kinds. Each but Rows has a path of its own below the endpoint's. All have the endpoint's
// filters and page parameters.
const (
	Rows      Kind = iota // their records
	Aggregate             // figures of groups of them
	Facets                // how many of them have each value of a field
	Changes               // those that another snapshot does not have so
	Export                // the records of all of them, in one answer
)

// kindNames are the last parts of the paths.
var kindNames = [...]string{Rows: "", Aggregate: "aggregate", Facets: "facets", Changes: "changes", Export: "export"}

// String is the last part of the kind's paths, empty for Rows.
func (k Kind) String() string { return kindNames[k] }

// KindOf splits the path of a kind. A path without the name of one is of Rows.
func KindOf(path string) (endpoint string, kind Kind) {
	for k := Rows + 1; int(k) < len(kindNames); k++ {
		if before, is := strings.CutSuffix(path, "/"+k.String()); is {
			return before, k
		}
	}
	return path, Rows
}

// Paths are all paths of the plan's requests, the described one first.
func (p *Plan) Paths() []string {
	paths := p.Endpoint.Paths()
	if p.Kind != Rows {
		for i := range paths {
			paths[i] += "/" + p.Kind.String()
		}
	}
	return paths
}

// Name is what the plan's requests are called in metrics, in the contract's names.
func (p *Plan) Name() string {
	name := p.Endpoint.Contract().Name()
	if p.Kind != Rows {
		name += "/" + p.Kind.String()
	}
	return name
}

// Kind is what the request asks for.
func (r *Request) Kind() Kind { return r.plan.Kind }
