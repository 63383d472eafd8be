package figures

import (
	"net/url"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
)

// refuse returns the error for wrong sums: one issue for each, and in all of them the request to
// send instead, in which nothing is wrong, unless it is a trial. The path is that of the request.
func (c *checker) refuse(r *contract.Request, path string, wrong []violation) error {
	all, request := &contract.Invalid{}, ""
	if !isTrial(r) {
		query, err := c.remedy(r, wrong)
		if err != nil {
			return err
		}
		request = path + "?" + query
	}
	for _, w := range wrong {
		all.Issues = append(all.Issues, contract.WrongSum(w.param, w.text, request))
	}
	return all
}

// maxFixes bounds the search for a remedy. One fix can show another trouble: after latest=true,
// say, the rows of two assessments are left. Grouping by every dimension ends the search.
const maxFixes = 8

// remedy is the query of a request in which nothing is wrong. First it keeps single values where
// that leaves the same places; if no row passes then, it groups instead.
func (c *checker) remedy(r *contract.Request, wrong []violation) (string, error) {
	query, rows, err := c.applyFixes(r, wrong)
	if err != nil || rows > 0 || c.group {
		return query, err
	}
	grouping := *c
	grouping.group = true
	if wrong, err = grouping.check(r); err != nil {
		return "", err
	}
	query, _, err = grouping.applyFixes(r, wrong)
	return query, err
}

// applyFixes changes a request until nothing is wrong, and counts the rows that pass then.
func (c *checker) applyFixes(r *contract.Request, wrong []violation) (query string, rows int, err error) {
	q := queryOf(r)
	next := r
	for range maxFixes {
		for i := range wrong {
			wrong[i].fix(q)
		}
		if next, err = c.parse(q); err != nil {
			return "", 0, err
		}
		if wrong, err = c.check(next); err != nil {
			return "", 0, err
		}
		if len(wrong) == 0 {
			break
		}
	}
	rows, err = c.list.CountRows(next)
	return queryText(q), rows, err
}

// covers reports whether the rows that pass an edited request are in as many countries as all rows,
// so that the edit leaves none out.
func (c *checker) covers(r *contract.Request, edit func(query url.Values)) bool {
	var by []aggregate.Group
	for i := range c.plan.Endpoint.Dimensions {
		if d := &c.plan.Endpoint.Dimensions[i]; strings.HasSuffix(d.Field, "location_code") {
			by = append(by, aggregate.Group{Column: d.Field})
		}
	}
	q := queryOf(r)
	edit(q)
	kept, err := c.parse(q)
	if err != nil {
		return false
	}
	all, err := c.counts(r, by...)
	if err != nil {
		return false
	}
	some, err := c.counts(kept, by...)
	return err == nil && slices.EqualFunc(all, some, func(a, b *aggregate.Result) bool { return a.Len() == b.Len() })
}

// queryOf is the canonical query of a request, without its page.
func queryOf(r *contract.Request) url.Values {
	q, _ := url.ParseQuery(string(r.AppendCanonical(nil)))
	q.Del("offset")
	return q
}

// readable undoes escapes of what separates the values of a list: they are easier to read so.
var readable = strings.NewReplacer("%2C", ",", "%3A", ":", "+", "%20")

// queryText is a query as errors and records name it, sorted by name.
func queryText(q url.Values) string { return readable.Replace(q.Encode()) }

// parse reads a query that was changed.
func (c *checker) parse(q url.Values) (*contract.Request, error) {
	r := new(contract.Request)
	r.Scanned.Scan(c.plan, []byte(q.Encode()))
	return r, r.Parse()
}

// listOf returns the values of a list.
func listOf(q url.Values, name string) []string {
	return strings.FieldsFunc(q.Get(name), func(c rune) bool { return c == ',' })
}

func setList(q url.Values, name string, values []string) { q.Set(name, strings.Join(values, ",")) }

// group adds a field to those that are grouped by.
func group(q url.Values, field string) {
	if groups := listOf(q, groupBy); !slices.Contains(groups, field) {
		setList(q, groupBy, append(groups, field))
	}
}

// groupByStart replaces years, quarters and months by the start of the period.
func groupByStart(q url.Values, field string) {
	setList(q, groupBy, slices.DeleteFunc(listOf(q, groupBy), func(name string) bool {
		return name == "year" || name == "quarter" || name == "month"
	}))
	group(q, field)
}

// keep leaves one value of a field.
func (c *checker) keep(q url.Values, field, value string) {
	if p := c.plan.Param(field); p != nil {
		value = p.Exactly(value)
	}
	q.Set(field, value)
}

func replaceMeasure(q url.Values, measure string, instead []string) {
	var all []string
	asked := listOf(q, measuresParam)
	for _, m := range asked {
		if m != measure {
			all = append(all, m)
			continue
		}
		for _, other := range instead {
			if !slices.Contains(asked, other) {
				all = append(all, other)
			}
		}
	}
	setList(q, measuresParam, all)
}
