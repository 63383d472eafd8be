package state

import (
	"hdqs/api/contract"
	"hdqs/index"
)

// levelColumn is the level of a row's place.
const levelColumn = "admin_level"

// indexOptions says which rows of an endpoint are of one series or edition, and which contain
// others.
func indexOptions(e *contract.Endpoint) (o index.Options) {
	if o.Series = e.Series(); o.Series == nil {
		return o
	}
	o.PeriodStart, o.PeriodEnd = contract.PeriodStart, contract.PeriodEnd
	if e.Nests() {
		o.Nested, o.Units, o.Level, o.Placeholder = e.Nested(), unitsOf(e), levelColumn, contract.IsPlaceholder
	}
	o.Same = map[string][]string{}
	for i := range e.Dimensions {
		if d := &e.Dimensions[i]; len(d.Everybody) > 1 {
			o.Same[d.Field] = d.Everybody
		}
	}
	if of := e.Edition; of != nil {
		o.Edition = &index.Edition{Columns: of.Fields, Whole: of.Whole, Having: of.Having}
		if !of.Whole {
			o.Edition.Columns = append([]string{"location_code"}, of.Fields...)
			if e.Units() != nil {
				o.Edition.Level = levelColumn
			}
		}
	}
	return o
}

func unitsOf(e *contract.Endpoint) (units []index.Unit) {
	for _, u := range e.Units() {
		unit := index.Unit{Code: u.Code}
		if u.ProviderName != "" {
			unit.Names = []string{u.ProviderName}
		}
		if u.ProviderCode != "" {
			unit.Also = []string{u.ProviderCode}
		}
		units = append(units, unit)
	}
	return units
}

// everybodyFilters keep the rows that count everybody.
func everybodyFilters(e *contract.Endpoint) (all []index.Filter) {
	for i := range e.Dimensions {
		d := &e.Dimensions[i]
		if d.Everybody == nil {
			continue
		}
		f := index.Filter{Columns: []string{d.Field}, Op: index.Equal}
		for _, value := range d.Everybody {
			f.Values = append(f.Values, index.Value{Text: value})
		}
		all = append(all, f)
	}
	return all
}
