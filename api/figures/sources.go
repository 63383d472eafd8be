package figures

import (
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
)

// What answers of one list say of other lists.
const (
	locationsPath = "/api/v2/metadata/location"
	resourcesPath = "/api/v2/metadata/resource"
)

// answered are the groups of an aggregate, on all pages.
type answered struct{ *aggregates }

// aggregateOf begins a question about groups of a list, in the contract's names.
func aggregateOf(path string) *contract.Question {
	at := slices.IndexFunc(contract.Endpoints, func(e contract.Endpoint) bool { return e.Path == path })
	return contract.Ask(&contract.Endpoints[at], contract.Aggregate)
}

// askList answers a question about groups of a list of a snapshot, in the contract's names, without
// hints. The list is checked like any other: damage of its table is found, and the question
// refused.
func askList(s *list.Lists, v *state.Served, q *contract.Question) (found answered, err error) {
	q.Unhinted = true
	err = s.Query(v, s.Routes.MountIn(contract.ContractNames), q, func(_ *list.Reply, records list.Records) error {
		found = answered{records.(*aggregates)}
		return nil
	})
	return found, err
}

func (t answered) len() int { return t.total }

// at is a field of a group: of those that are grouped by, or a measure after them.
func (t answered) at(group, field int) aggregate.Value {
	return t.Value(group-t.from, t.position(field))
}

// number is a field as JSON has it.
func (t answered) number(group, field int) string {
	return string(t.AppendCell(nil, group-t.from, t.position(field), false))
}

// position leaves out the level that some groups have before the measures.
func (t answered) position(field int) int {
	if t.level && field >= t.groups {
		return field + 1
	}
	return field
}

// source is where rows come from. A text is empty if their sources differ or are not known.
type source struct {
	provider, dataset, resource string
	updated                     int64 // in microseconds, 0 if it is not known
}

// join keeps what two sources have in common, with the later update.
func (s *source) join(o source) {
	for _, texts := range [][2]*string{
		{&s.provider, &o.provider}, {&s.dataset, &o.dataset}, {&s.resource, &o.resource},
	} {
		if *texts[0] != *texts[1] {
			*texts[0] = ""
		}
	}
	s.updated = max(s.updated, o.updated)
}

type sourcesKey struct{}

// sourcesOf are the sources of a snapshot by the ids of their resources.
func sourcesOf(s *list.Lists, v *state.Served) (map[string]source, error) {
	return list.MadeOf(v, sourcesKey{}, func() (map[string]source, error) {
		rows, err := askList(s, v, aggregateOf(resourcesPath).GroupBy(
			"resource_catalog_id", "dataset_catalog_provider_name", "dataset_catalog_title", "update_date"))
		if err != nil {
			return nil, err
		}
		all := map[string]source{}
		for i := range rows.len() {
			id := strings.Clone(rows.at(i, 0).Text)
			provider, dataset := strings.Clone(rows.at(i, 1).Text), strings.Clone(rows.at(i, 2).Text)
			all[id] = source{provider, dataset, id, rows.at(i, 3).Int}
		}
		return all, nil
	})
}
