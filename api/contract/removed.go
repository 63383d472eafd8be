package contract

import "strings"

// earlierFilters are the filters of version 1 that version 2 of the public service does not have,
// but whose columns exist. Clients still send them, so endpoints in HAPI names have them, as in
// version 1: the end of a range is exclusive, and the provider's names match a part in any case.
func earlierFilters(e *Endpoint) []Param {
	var all []Param
	for _, field := range []string{PeriodStart, PeriodEnd} {
		if e.hasField(field) {
			all = append(all, between(field, DateTime)...)
		}
	}
	for _, p := range e.Place {
		if len(p.Columns) > 1 { // the second one is what the provider calls the unit
			all = append(all, contains(p.Columns[1], p.Max)...)
		}
	}
	for i := range all {
		all[i].Earlier = true
	}
	return all
}

// removedOf returns the remedies of the removed filters of a plan, by their names. A client that
// still sends one expects fewer rows than it would get, so endpoints in HAPI names refuse them.
func removedOf(p *Plan) map[string]string {
	if p.Endpoint.names != HAPINames {
		return nil
	}
	remedies := map[string]string{}
	for names, text := range removed {
		of, remedy, _ := strings.Cut(text, ": ")
		if p.find(of) == nil && !p.Endpoint.hasField(of) {
			continue
		}
		for name := range strings.FieldsSeq(names) {
			if !p.Knows(name) {
				remedies[name] = remedy
			}
		}
	}
	return remedies
}

// refuseRemoved refuses a removed filter. Without a value it would not have restricted the rows.
func (s *Scanned) refuseRemoved(name, encoded []byte) {
	if len(s.plan.removed) == 0 || len(encoded) == 0 {
		return
	}
	hapi := HAPINames.Name(string(name))
	if remedy, removed := s.plan.removed[hapi]; removed {
		s.refuse(hapi, "version 2 has no filter "+hapi+"; "+remedy)
	}
}
