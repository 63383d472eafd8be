package contract

import (
	"slices"
	"strings"
)

// Parameters that keep some of the rows that pass all filters, by comparing these with one another:
// first admin_level=coarsest, then latest.

// LatestParam keeps the newest rows. With true these are the rows for which no other one of the
// same series (Series) has a later period: the period with the later end is later, then the one
// with the later start; an open end is the latest. With LatestEdition they are the rows of the
// newest edition.
const (
	LatestParam   = "latest"
	LatestEdition = "edition"
)

// EverybodyParam keeps the rows whose dimensions have a value that means everybody.
const EverybodyParam = "everybody"

// EditionText says what an edition of the endpoint's records is, empty without one.
func (t Texts) EditionText() string {
	of := t.of.Edition
	if of == nil {
		return ""
	}
	var fields []string
	for _, field := range of.Fields {
		fields = append(fields, t.of.names.Name(field))
	}
	const keeps = "edition keeps the records of the newest edition, and nothing that only an older one has. "
	switch {
	case of.Having != "":
		return keeps + "That of a location_code is the newest year of reference_period_start in which a record has " +
			"its " + of.Having + "."
	case of.Whole:
		return keeps + "That is the newest reference period of each " + inSentence(fields) + " in the whole list, " +
			"whatever filters besides those of dates there are."
	}
	same := append([]string{"location_code"}, fields...)
	if t.of.Units() != nil {
		same = slices.Insert(same, 1, "admin_level")
	}
	text := keeps + "An edition is the records with the same " + inSentence(same) + " and reference period"
	if t.of.CountsEverybody() && slices.Contains(of.Fields, "category") {
		text += "; categories that mean everybody are one"
	}
	if t.of.Units() != nil {
		text += "; with admin_level=coarsest it has all levels"
	}
	return text + "."
}

// latestModes are the values of LatestParam where there are editions.
var latestModes = newEnum(LatestParam, "true", "false", LatestEdition)

// selectionParams are LatestParam for endpoints whose rows are of series, and EverybodyParam for
// those with dimensions that have such a value.
func (e *Endpoint) selectionParams() (params []Param) {
	if e.Series() != nil {
		latest := Param{Name: LatestParam, Type: Boolean, Own: latestKind}
		if e.Edition != nil {
			latest.Type, latest.Enum = Choice, latestModes
		}
		params = append(params, latest)
	}
	if e.CountsEverybody() {
		params = append(params, Param{Name: EverybodyParam, Type: Boolean, Own: everybodyKind})
	}
	return params
}

// CountsEverybody reports whether a dimension has values that mean everybody.
func (e *Endpoint) CountsEverybody() bool {
	return slices.ContainsFunc(e.Dimensions, func(d Dimension) bool { return d.Everybody != nil })
}

var latestKind = &ParamKind{
	read: func(r *Request, p *Param) {
		if r.Scanned.text(r.position) != LatestEdition {
			r.Question.Latest = r.readBoolean(p)
		} else if r.Question.Edition = true; r.Scanned.plan.Endpoint.Edition == nil {
			r.fault(valueError(LatestParam, LatestEdition, "records of "+r.Scanned.plan.Endpoint.Name()+
				" are each of their own period, and no edition of them replaces another; keep a period with "+
				"start_date and end_date, or send latest=true for the newest record of each series"))
		}
	},
	write: func(q *Question) string {
		if q.Edition {
			return LatestEdition
		}
		return ifSet(q.Latest, "true")
	},
}

// readBoolean reads the parameter being read.
func (r *Request) readBoolean(p *Param) bool {
	text := r.Scanned.text(r.position)
	set, ok := parseBoolean(text)
	if !ok {
		r.fault(notOfType(Boolean, p.Name, text))
	}
	return set
}

var everybodyKind = &ParamKind{
	read:  func(r *Request, p *Param) { r.Question.Everybody = r.readBoolean(p) },
	write: func(q *Question) string { return ifSet(q.Everybody, "true") },
}

func ifSet(set bool, text string) string {
	if set {
		return text
	}
	return ""
}

// Unit is the columns that name a place of one level: its code, what its provider calls it, and the
// provider's own code of it.
type Unit struct{ Code, ProviderName, ProviderCode string }

// Units are the columns of the places of rows, by level. They are nil for lists without levels.
func (e *Endpoint) Units() []Unit {
	if !e.HasField("admin_level") {
		return nil
	}
	units := []Unit{{Code: "location_code"}}
	for _, level := range []string{"admin1", "admin2"} {
		if !e.HasField(level + "_code") {
			break
		}
		u := Unit{Code: "stored_" + level + "_code", ProviderName: "provider_" + level + "_name"}
		if e.HasField("provider_" + level + "_code") {
			u.ProviderCode = "provider_" + level + "_code"
		}
		units = append(units, u)
	}
	return units
}

// IsPlaceholder reports whether a code is that of an unknown unit, which rows without one have.
func IsPlaceholder(code string) bool { return strings.HasSuffix(code, "-XXX") }

// Nests reports whether a row can be of a place that contains that of another. Lists without levels
// or periods have no such rows, nor have those of markets: no market is in another.
func (e *Endpoint) Nests() bool { return e.Units() != nil && e.Series() != nil && !e.HasPoints() }

// Nested are the columns in which a row agrees with the rows whose place contains its own: those of
// its series but for the place. There may be none.
func (e *Endpoint) Nested() (nested []string) {
	units := e.Units()
	for _, column := range e.Series() {
		isPlace := func(u Unit) bool {
			return column == u.Code || column == u.ProviderName || column == u.ProviderCode
		}
		if !slices.ContainsFunc(units, isPlace) {
			nested = append(nested, column)
		}
	}
	return nested
}

// IsUnfinished reports whether rows of a period that ends at a time are provisional, if their
// resource was last changed at another, both in microseconds. Zero is an unknown time.
func (e *Endpoint) IsUnfinished(end, updated int64) bool {
	return e.Provisional == Unfinished && updated != 0 && end > updated
}
