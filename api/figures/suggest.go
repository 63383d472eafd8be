package figures

import (
	"net/url"
	"slices"
	"strings"

	"hdqs/aggregate"
	"hdqs/api/contract"
)

// refuse returns the error for wrong sums: one issue for each, and in all of them the request to
// send instead, in which nothing is wrong. The path is that of the request.
func (c *checker) refuse(r *contract.Request, path string, wrong []violation) error {
	query, err := c.remedy(r, wrong)
	if err != nil {
		return err
	}
	request := path + "?" + query
	all := &contract.Invalid{}
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
	d := editOf(r)
	next := r
	for range maxFixes {
		for i := range wrong {
			wrong[i].fix(d)
		}
		if next, err = d.request(c.plan); err != nil {
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
	return d.query(), rows, err
}

// covers reports whether the rows that pass an edited request are in as many countries as all rows,
// so that the edit leaves none out.
func (c *checker) covers(r *contract.Request, edit func(d *queryEdit)) bool {
	var by []aggregate.Group
	for i := range c.plan.Endpoint.Dimensions {
		if d := &c.plan.Endpoint.Dimensions[i]; strings.HasSuffix(d.Field, "location_code") {
			by = append(by, aggregate.Group{Column: d.Field})
		}
	}
	d := editOf(r)
	edit(d)
	kept, err := d.request(c.plan)
	if err != nil {
		return false
	}
	all, err := c.counts(r, by)
	if err != nil {
		return false
	}
	some, err := c.counts(kept, by)
	return err == nil && slices.EqualFunc(all, some, func(a, b *aggregate.Result) bool { return a.Len() == b.Len() })
}

// queryEdit is a query that is being changed.
type queryEdit struct{ pairs [][2]string }

// editOf is the canonical query of a request, without its page.
func editOf(r *contract.Request) *queryEdit {
	d := new(queryEdit)
	for pair := range strings.SplitSeq(string(r.AppendCanonical(nil)), "&") {
		name, encoded, _ := strings.Cut(pair, "=")
		if value, err := url.QueryUnescape(encoded); err == nil && name != "" && name != "offset" {
			d.pairs = append(d.pairs, [2]string{name, value})
		}
	}
	return d
}

func (d *queryEdit) query() string {
	var b strings.Builder
	for i, pair := range d.pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		// Commas and colons separate what is listed; they are easier to read as they are.
		value := strings.NewReplacer("%2C", ",", "%3A", ":", "+", "%20").Replace(url.QueryEscape(pair[1]))
		b.WriteString(pair[0] + "=" + value)
	}
	return b.String()
}

// request parses the changed query.
func (d *queryEdit) request(p *contract.Plan) (*contract.Request, error) {
	r := new(contract.Request)
	r.Scan(p, []byte(d.query()))
	return r, r.Parse()
}

func (d *queryEdit) find(name string) int {
	return slices.IndexFunc(d.pairs, func(pair [2]string) bool { return pair[0] == name })
}

func (d *queryEdit) set(name, value string) {
	if at := d.find(name); at >= 0 {
		d.pairs[at][1] = value
		return
	}
	d.pairs = append(d.pairs, [2]string{name, value})
}

// list returns the values of a list, empty without one.
func (d *queryEdit) list(name string) []string {
	at := d.find(name)
	if at < 0 || d.pairs[at][1] == "" {
		return nil
	}
	return strings.Split(d.pairs[at][1], ",")
}

func (d *queryEdit) setList(name string, values []string) { d.set(name, strings.Join(values, ",")) }

// group adds a field to those that are grouped by.
func (d *queryEdit) group(field string) {
	if groups := d.list("group_by"); !slices.Contains(groups, field) {
		d.setList("group_by", append(groups, field))
	}
}

// groupByStart replaces years, quarters and months by the start of the period.
func (d *queryEdit) groupByStart(field string) {
	groups := slices.DeleteFunc(d.list("group_by"), func(name string) bool {
		return name == "year" || name == "quarter" || name == "month"
	})
	d.setList("group_by", groups)
	d.group(field)
}

// keep leaves one value of a field.
func (c *checker) keep(d *queryEdit, field, value string) {
	for i := range c.plan.Params {
		if p := &c.plan.Params[i]; p.Name == field && (p.Op == contract.Like || p.Op == contract.Contains) {
			value = literal.Replace(value)
		}
	}
	d.set(field, value)
}

// literal makes wildcards literal.
var literal = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func (d *queryEdit) replaceMeasure(measure string, instead []string) {
	var all []string
	for _, m := range d.list("measures") {
		if m != measure {
			all = append(all, m)
			continue
		}
		for _, other := range instead {
			if !slices.Contains(d.list("measures"), other) {
				all = append(all, other)
			}
		}
	}
	d.setList("measures", all)
}
