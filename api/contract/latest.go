package contract

// LatestParam keeps the newest rows: of those that pass all filters, the rows for which no other
// such row of the same series (Series) has a later period. The period with the later end is later,
// then the one with the later start; an open end is the latest.
const LatestParam = "latest"

// latestParams is the parameter, for endpoints whose rows are of series.
func latestParams(e *Endpoint) []Param {
	if e.Series() == nil {
		return nil
	}
	return []Param{{Name: LatestParam, Type: Boolean, Own: true}}
}

func (r *Request) readLatest(p *Param) {
	text := r.text(r.position)
	latest, ok := parseBoolean(text)
	if !ok {
		r.fault(notBoolean(p.Name, text))
	}
	r.Latest = latest
}

func describeLatest() string {
	return "true keeps the newest records: of those that pass all filters, the ones for which no other such record " +
		"of the same series has a later reference period. With end_date it is what was known then."
}
