package figures

import (
	"math/big"
	"time"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/say"
)

// readExtents finds what the values are a part of, once they are known.
func (f *figure) readExtents() error {
	if f.Other != "" {
		rows, err := f.ask(f.base, nil, "distinct:"+f.Other)
		if err != nil {
			return err
		}
		f.others = rows.at(0, 0)
	}
	if f.OutOf != "" {
		if err := f.together(f.codes, f.readWholes); err != nil {
			return err
		}
	}
	if f.Aging {
		return f.dropAged()
	}
	if f.Whole {
		return f.nameUnits()
	}
	return nil
}

// readWholes finds the wholes that values are parts of.
func (f *figure) readWholes(places ...string) error {
	if f.OutOfFilters != "" {
		return f.readOtherRows(places...)
	}
	rows, err := f.ask(f.in(f.base, places...), []string{f.Place}, f.OutOf)
	for i := 0; err == nil && i < rows.len(); i++ {
		if h, v := f.of[rows.at(i, 0).Text], rows.at(i, 1); h != nil && v.Kind == aggregate.Decimal {
			h.OutOf = number(v.String())
		}
	}
	return err
}

// readOtherRows adds up wholes of the same places and periods as the rows of a value. Where one of
// these has none, the whole is not known.
func (f *figure) readOtherRows(places ...string) error {
	by := []string{f.Place}
	for i := range f.list.Fields {
		switch name := f.list.Fields[i].Name; name {
		case f.Place:
		case "admin1_code", "admin2_code", "provider_admin1_name", "provider_admin2_name", levelColumn,
			contract.PeriodStart, contract.PeriodEnd:
			by = append(by, name)
		}
	}
	base := f.WholeQuestion(contract.ContractNames).Add(f.given)
	if base.Edition = f.base.Edition; f.base.Has(contract.EndParam) {
		base.Add(f.base.Only(contract.EndParam))
	}
	parts, err := f.ask(f.in(f.base, places...), by, "count")
	if err != nil {
		return err
	}
	rows, err := f.ask(f.in(base, places...), by, "count", f.OutOf)
	if err != nil {
		return err
	}
	wholes, sums := map[string]*big.Rat{}, map[string]*big.Rat{}
	for i := range rows.len() {
		if rows.at(i, len(by)).Int == 1 {
			wholes[groupKey(rows.result, i, len(by))] = ratOf(rows.number(i, len(by)+1))
		}
	}
	for i := range parts.len() {
		place, whole := parts.at(i, 0).Text, wholes[groupKey(parts.result, i, len(by))]
		switch sum, known := sums[place]; {
		case whole == nil || parts.at(i, len(by)).Int != 1:
			sums[place] = nil
		case !known:
			sums[place] = new(big.Rat).Set(whole)
		case sum != nil:
			sum.Add(sum, whole)
		}
	}
	for place, sum := range sums {
		if h := f.of[place]; h != nil && sum != nil && h.Value != "" {
			digits, _ := sum.FloatPrec()
			h.OutOf = number(sum.FloatString(digits))
		}
	}
	return nil
}

// dropAged takes values away that are asked for as they were known at a time, where they end more
// than a year before it: newer rows are left out.
func (f *figure) dropAged() error {
	end, has := endOf(f.given)
	if !has {
		return nil
	}
	rows, err := f.ask(f.all(), nil, newestStart)
	if err != nil || rows.at(0, 0).Int < end.UnixMicro() {
		return err
	}
	for _, h := range f.of {
		if last := h.End.value(); last.Kind == aggregate.Time && last.Int < end.AddDate(-1, 0, 0).UnixMicro() {
			h.Value, h.OutOf = "", ""
			h.Reason.Text = say.Of("its newest records before that time are of %s, more than a year before it",
				monthText(h.End.value()))
		}
	}
	return nil
}

// endOf is the end of the time that a question asks for.
func endOf(q *contract.Question) (end time.Time, has bool) {
	for _, filter := range q.Filters {
		if q.Plan().Params[filter.Param].Name == contract.EndParam {
			return time.UnixMicro(filter.Value.Int).UTC(), true
		}
	}
	return end, false
}

// nameUnits says of which time there are newer rows of units of the countries.
func (f *figure) nameUnits() error {
	units := f.all().Add(f.given).Keep(levelColumn+contract.SeveralSuffix, "1", "2")
	f.dropFuture(units)
	rows, err := f.ask(f.in(units, f.codes...), []string{f.Place}, newestStart)
	for i := 0; err == nil && i < rows.len(); i++ {
		h, newest := f.of[rows.at(i, 0).Text], rows.at(i, 1)
		if h != nil && h.Value != "" && storedOf(newest) > h.End {
			h.Reason.Text = say.Of("a newer survey, of %s, is of provinces only", monthText(newest))
		}
	}
	return err
}
