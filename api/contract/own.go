package contract

import "fmt"

// Parameters of a kind of request are neither filters nor of the page: they choose what is made of
// the rows that pass. Param.Own marks them. Each has a case in readOwn and in appendOwn.

// kindParams returns the parameters that requests of a kind have besides filters and page.
func kindParams(e *Endpoint, k Kind) []Param {
	switch k {
	case Rows:
		return filters([]Param{fieldsParam(e)}, latestParams(e))
	case Aggregate:
		return filters(aggregateParams(e), latestParams(e))
	case Facets:
		return filters(facetParams(e), latestParams(e))
	case Changes:
		return filters([]Param{fieldsParam(e)}, latestParams(e), []Param{sinceParam()})
	case Export:
		return exportParams(e)
	}
	return nil
}

// resetOwn forgets what an earlier request asked for.
func (r *Request) resetOwn() {
	r.Fields, r.Latest = nil, false
	r.Groups, r.Measures = r.Groups[:0], append(r.Measures[:0], Measure{Func: Count, Field: -1})
	r.Of = r.Of[:0]
	r.Since, r.Format, r.Compressed = "", "", false
}

// readOwn reads a parameter of the kind. Its faults are reported like those of the others.
func (r *Request) readOwn(p *Param) {
	switch p.Name {
	case FieldsParam:
		r.readFields(p)
	case LatestParam:
		r.readLatest(p)
	case groupParam:
		r.Groups = r.readGroups(p, r.Groups)
	case measureParam:
		r.readMeasures(p)
	case ofParam:
		r.readFacets(p)
	case SinceParam:
		r.readSince(p)
	case compressionParam:
		r.readCompression(p)
	}
}

// requireOwn reports a parameter of the kind that is absent but needed.
func (r *Request) requireOwn() {
	switch r.plan.Kind {
	case Facets:
		r.requireFacets()
	case Changes:
		r.requireSince()
	case Export:
		r.requireExport()
	}
}

// appendOwn appends a parameter of the kind to the canonical query, with a '&' after it. Without an
// effect it appends nothing.
func (r *Request) appendOwn(dst []byte, p *Param) []byte {
	switch p.Name {
	case FieldsParam:
		dst = r.appendFields(dst)
	case LatestParam:
		if r.Latest {
			dst = append(dst, "latest=true&"...)
		}
	case groupParam:
		dst = append(r.appendGroups(append(dst, "group_by="...), r.Groups), '&')
	case measureParam:
		if len(r.Measures) > 1 || r.Measures[0].Func != Count {
			dst = append(r.appendMeasures(append(dst, "measures="...)), '&')
		}
	case ofParam:
		dst = append(r.appendGroups(append(dst, "of="...), r.Of), '&')
	case SinceParam:
		dst = append(append(append(dst, SinceParam+"="...), r.Since...), '&')
	case compressionParam:
		if r.Compressed {
			dst = append(dst, compressionParam+"=zstd&"...)
		}
	}
	return dst
}

// describeOwn is what a parameter of the kind does.
func (p *Param) describeOwn() string {
	switch p.Name {
	case FieldsParam:
		return describeFields()
	case LatestParam:
		return describeLatest()
	case groupParam:
		return "Fields of the records to group by, with commas between their names, and year, quarter or month of " +
			"the start of the reference period. Without it all records are one group."
	case measureParam:
		return "What to compute for each group, with commas between: count, and sum, min, max, mean, distinct or " +
			"latest of a field, such as sum:FIELD. Without it count."
	case SinceParam:
		return "The snapshot to compare with: " + aboutSince + "."
	case compressionParam:
		return "Compresses the buffers of an Arrow stream, which most readers undo by themselves."
	case ofParam:
		return fmt.Sprintf("The fields whose values are counted, with commas between their names. At most %d values "+
			"of each are in the answer.", MaxFacet)
	}
	return ""
}

// readNames reads all occurrences of a list of names, in the order in which they were sent. It is
// not ok if there is an error.
func (r *Request) readNames(p *Param) (names []string, ok bool) {
	issues, count := len(r.issues), 0
	sent := ""
	for _, list := range r.lists {
		if list.position != r.position {
			continue
		}
		text := string(decodedView(list.encoded))
		if count > 0 {
			sent += ","
		}
		sent += text
		if text == "" {
			r.fault(noNames(p.Name))
			return nil, false
		}
		for rest, more := text, true; more; {
			var name string
			name, rest, more = cutValue(rest, false)
			if count++; count > MaxValues || len(r.issues) >= issues+maxListFaults {
				continue // only counts
			}
			if name == "" {
				r.fault(emptyValue(p.Name, text, count))
			} else {
				names = append(names, name)
			}
		}
	}
	if count > MaxValues {
		r.fault(tooMany(p.Name, sent, count))
	}
	return names, len(r.issues) == issues
}

// appendNames appends a list of names as it is sent. Names have no commas.
func appendNames(dst []byte, names ...string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, "%2C"...)
		}
		dst = appendEscaped(dst, name)
	}
	return dst
}
