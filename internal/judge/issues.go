package judge

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// issue is one item of a 422. loose marks an item whose reason the contract does not fix, own one
// whose words it does not fix.
type issue struct {
	typ, msg string
	loc      []string
	input    string // JSON
	ctx      string // JSON; "" if the item has no such key
	loose    bool
	own      bool // of an extension, whose words are the program's
}

func (i issue) json() string {
	loc := make([]string, len(i.loc))
	for n, part := range i.loc {
		loc[n] = quoted(part)
	}
	text := fmt.Sprintf(`{"type":%s,"loc":[%s],"msg":%s,"input":%s`, quoted(i.typ), strings.Join(loc, ","),
		quoted(i.msg), i.input)
	if i.ctx != "" {
		text += `,"ctx":` + i.ctx
	}
	return text + "}"
}

// reader parses the parameters of one request into filters and issues.
type reader struct {
	contract *contract
	q        query
	formats  []string // of rows, besides those of the contract
	levels   bool     // admin_level can be coarsest
	listed   bool     // the values are of a list
	kept     selection
	issues   []issue
	filters  []filter
	commas   []string // names of parameters with a comma, which may have been meant as several
}

func (rd *reader) fault(p *param, value, typ, msg, ctx string) {
	rd.issues = append(rd.issues, issue{
		typ: typ, msg: msg, loc: []string{"query", p.Name}, input: quoted(value),
		ctx: ctx,
	})
}

// inOrder returns the parameters of an endpoint in the order of a 422's items.
func inOrder(c *contract, e *endpoint) []*param {
	common := make([]*param, 0, 4)
	for _, name := range []string{"limit", "offset", "app_identifier", "output_format"} {
		i := slices.IndexFunc(c.Common, func(p *param) bool { return p.Name == name })
		common = append(common, c.Common[i])
	}
	var places, own []*param
	leads := lastPart(e.Path) != "data-availability" && e.param("admin_level") != nil
	for _, p := range e.Params {
		if leads && slices.Contains(placeParams, p.Name) {
			places = append(places, p)
		} else {
			own = append(own, p)
		}
	}
	slices.SortFunc(places, func(a, b *param) int {
		return slices.Index(placeParams, a.Name) - slices.Index(placeParams, b.Name)
	})
	return slices.Concat(places, common, own)
}

// readAll reads the parameters of an endpoint.
func (rd *reader) readAll(e *endpoint) {
	for _, p := range inOrder(rd.contract, e) {
		rd.read(p)
		rd.readList(p)
	}
	rd.readSelection(e)
}

// only reads those of the parameters whose names fit.
func (rd *reader) only(e *endpoint, fits func(name string) bool) *reader {
	some := &reader{contract: rd.contract, levels: rd.levels}
	for _, p := range rd.q {
		if fits(p.name) {
			some.q = append(some.q, p)
		}
	}
	some.readAll(e)
	return some
}

var placeParams = []string{
	"location_code", "location_name", "admin1_code", "admin1_name", "admin2_code",
	"admin2_name", "admin_level",
}

func (e *endpoint) param(name string) *param {
	for _, p := range e.Params {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// read checks one parameter. A valid one may add a filter.
func (rd *reader) read(p *param) {
	value, sent := rd.q.last(p.Name)
	if !sent {
		return
	}
	switch p.Type {
	case "string":
		rd.readString(p, value)
	case "enum":
		rd.readEnum(p, value)
	case "integer":
		rd.readInteger(p, value)
	case "number":
		rd.readNumber(p, value)
	case "boolean":
		want, ok := parseBool(value)
		if !ok {
			rd.fault(p, value, "bool_parsing", "Input should be a valid boolean, unable to interpret input", "")
			return
		}
		column := storedColumn(p.Columns[0])
		rd.filters = append(rd.filters, func(r row) bool { return r.stored[column] == want })
	case "date-time or date":
		rd.readDateTime(p, value)
	case "partial-date": // badDate has checked it already
		if t, ok := parseInstant(value, p.Match == "overlap_end"); ok {
			rd.filters = append(rd.filters, timeFilter(p, t))
		}
	default:
		panic(fmt.Sprintf("parameter %s has the unknown type %q", p.Name, p.Type))
	}
}

func (rd *reader) readString(p *param, value string) {
	length := utf8.RuneCountInString(value)
	if rd.listed { // backslashes that a list needs do not count
		length -= strings.Count(value, `\`) - strings.Count(value, `\\`)
	}
	switch {
	case p.MaxLength != nil && length > *p.MaxLength:
		rd.fault(p, value, "string_too_long", fmt.Sprintf("String should have at most %d characters", *p.MaxLength),
			fmt.Sprintf(`{"max_length":%d}`, *p.MaxLength))
	case p.MinLength != nil && length < *p.MinLength:
		rd.fault(p, value, "string_too_short", fmt.Sprintf("String should have at least %d characters", *p.MinLength),
			fmt.Sprintf(`{"min_length":%d}`, *p.MinLength))
	case value != "" && len(p.Columns) > 0:
		rd.filters = append(rd.filters, textFilter(p, value))
	}
}

func (rd *reader) readEnum(p *param, value string) {
	if p.Name == "output_format" && slices.Contains(rd.formats, value) {
		return
	}
	if p.Match == "level_equal" && value == "coarsest" && rd.levels {
		rd.kept.coarsest = true
		return
	}
	if !slices.Contains(p.Enum, value) {
		fact := rd.contract.Enums[p.EnumName]
		rd.fault(p, value, "enum", fact.Msg, `{"expected":`+quoted(fact.Expected)+`}`)
		return
	}
	if p.Match == "level_equal" {
		level := int64(value[0] - '0')
		rd.filters = append(rd.filters, func(r row) bool { return r.stored["admin_level"] == level })
	} else if len(p.Columns) > 0 {
		column := storedColumn(p.Columns[0])
		rd.filters = append(rd.filters, func(r row) bool { return r.stored[column] == value })
	}
}

func (rd *reader) readInteger(p *param, value string) {
	n, ok := parseInteger(value)
	switch {
	case !ok:
		rd.fault(p, value, "int_parsing", "Input should be a valid integer, unable to parse string as an integer", "")
	case p.Min != nil && n.Cmp(big.NewInt(*p.Min)) < 0:
		rd.fault(p, value, "greater_than_equal", fmt.Sprintf("Input should be greater than or equal to %d", *p.Min),
			fmt.Sprintf(`{"ge":%d}`, *p.Min))
	case p.Max != nil && n.Cmp(big.NewInt(*p.Max)) > 0:
		rd.fault(p, value, "less_than_equal", fmt.Sprintf("Input should be less than or equal to %d", *p.Max),
			fmt.Sprintf(`{"le":%d}`, *p.Max))
	case len(p.Columns) > 0:
		rd.filters = append(rd.filters, boundFilter(p, func(v int64) int { return big.NewInt(v).Cmp(n) }))
	}
}

func (rd *reader) readNumber(p *param, value string) {
	if p.Parse == "decimal" {
		number, word, ok := numberText(value)
		switch {
		case !ok:
			rd.fault(p, value, "decimal_parsing", "Input should be a valid decimal", "")
		case word:
			rd.fault(p, value, "finite_number", "Input should be a finite number", "")
		default:
			bound := exactOf(number)
			rd.filters = append(rd.filters, boundFilter(p, func(v decimal) int { return v.exact.Cmp(bound) }))
		}
		return
	}
	bound, ok := parseFloat(value)
	if !ok {
		rd.fault(p, value, "float_parsing", "Input should be a valid number, unable to parse string as a number", "")
		return
	}
	rd.filters = append(rd.filters, floatFilter(p, bound))
}

func (rd *reader) readDateTime(p *param, value string) {
	t, reason, ok := parseDateTime(value)
	if ok {
		rd.filters = append(rd.filters, timeFilter(p, t))
		return
	}
	add := func(suffix, typ, msg string) {
		rd.issues = append(rd.issues, issue{
			typ: typ, msg: msg + reason, loc: []string{"query", p.Name, suffix},
			input: quoted(value), ctx: `{"error":` + quoted(reason) + `}`, loose: reason == "",
		})
	}
	add("datetime", "datetime_from_date_parsing", "Input should be a valid datetime or date, ")
	add("date", "date_from_datetime_parsing", "Input should be a valid date or datetime, ")
}

// badDate returns the name of the first of start_date and end_date that is not a date, or "".
func badDate(e *endpoint, q query) string {
	for _, name := range []string{"start_date", "end_date"} {
		value, _ := q.last(name)
		if e.param(name) == nil || value == "" {
			continue
		}
		if _, ok := parseInstant(value, false); !ok {
			return name
		}
	}
	return ""
}

// bounds are the positions of the page among all.
func (rd *reader) bounds(all int) (from, to int) {
	limit, offset := big.NewInt(10000), new(big.Int)
	if value, sent := rd.q.last("limit"); sent {
		limit, _ = parseInteger(value)
	}
	if value, sent := rd.q.last("offset"); sent {
		offset, _ = parseInteger(value)
	}
	if offset.Cmp(big.NewInt(int64(all))) >= 0 {
		return all, all
	}
	from = int(offset.Int64())
	return from, from + min(int(limit.Int64()), all-from)
}
