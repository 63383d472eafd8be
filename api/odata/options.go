package odata

import (
	"bytes"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/reply"
)

// level is how much control information an answer has (odata.metadata).
type level uint8

// The levels.
const (
	minimal level = iota
	none
	full
)

var levelNames = [...]string{"minimal", "none", "full"}

// form is how an answer is written.
type form struct {
	level  level
	quoted bool // IEEE754Compatible: whole numbers are texts
	xml    bool // of $metadata
	byName bool // it is in the address ($format), and not only in Accept
}

// contentType is the content type of JSON answers of the form.
func (f form) contentType() string {
	t := contract.JSONType + ";odata.metadata=" + levelNames[f.level]
	if f.quoted {
		t += ";IEEE754Compatible=true"
	}
	return t
}

// options are the query options of a request.
type options struct {
	filter    *node
	selected  []int // properties, ascending; nil for all
	order     []by  // nil for that of the rows
	top       int64 // -1 without
	skip      uint64
	count     bool
	form      form
	state     string // of the data, by the $skiptoken; empty for the current one
	pageSize  int
	preferred bool   // the page's size is by Prefer
	kept      string // what the next page has too, as in a query
}

// notHere are system query options that are not here, with what to do instead.
var notHere = map[string]string{
	"expand": "there are no navigation properties", "search": "use contains in $filter",
	"apply":   "sums are sets of their own, where adding up is right",
	"compute": "compute in the client", "levels": "there are no navigation properties",
	"index": "use $skip", "schemaversion": "there is one version of the schema",
	"deltatoken": "changes are at LIST/changes",
	"id":         "ask for SET('KEY')",
}

// readOptions reads the query options. Names may be without their $, as in OData 4.01. Unknown ones
// are refused: a filter that is not applied gives wrong rows. s is nil for documents.
func readOptions(ctx *fasthttp.RequestCtx, s *set, known ...string) (o options, err error) {
	o.top, o.pageSize = -1, contract.MaxLimit
	format := ""
	given := map[string]string{}
	for pair := range bytes.SplitSeq(ctx.URI().QueryString(), []byte{'&'}) {
		if len(pair) == 0 {
			continue
		}
		before, after, _ := strings.Cut(string(pair), "=")
		name, err1 := url.QueryUnescape(before)
		text, err2 := url.QueryUnescape(after)
		short := strings.ToLower(strings.TrimPrefix(name, "$"))
		_, twice := given[short]
		instead, isOther := notHere[short]
		switch {
		case err1 != nil || err2 != nil:
			return o, badRequest("the query has a %% that is not followed by two hexadecimal digits")
		case name == contract.IdentifierParam:
			continue
		case strings.HasPrefix(name, "@"):
			return o, notImplemented("%s is not here: write the value where it is used", list.Quoted(name))
		case isOther && !slices.Contains(known, short):
			return o, notImplemented("%s is not here: %s", name, instead)
		case !slices.Contains(known, short):
			return o, badRequest("there is no query option %s; this address takes %s", list.Quoted(name), listed(known))
		case twice:
			return o, badRequest("%s is given twice", name)
		}
		given[short] = text
	}
	for _, name := range known { // in this order
		text, has := given[name]
		if !has {
			continue
		}
		if name != "top" && name != "skip" && name != "skiptoken" {
			o.kept += "$" + name + "=" + url.QueryEscape(text) + "&"
		}
		if name == "format" {
			format = text
		} else if err := o.read(s, name, text); err != nil {
			return o, err
		}
	}
	mayXML := s == nil && len(reply.PathOf(ctx)) > len(Root)
	if o.form, err = formOf(string(ctx.Request.Header.Peek(fasthttp.HeaderAccept)), format, mayXML); err != nil {
		return o, err
	}
	if key := len(o.selected); key > 0 && o.form.level == minimal && o.selected[key-1] != len(s.Properties)-1 {
		o.selected = append(o.selected, len(s.Properties)-1)
	}
	if o.form.level == full || o.form.quoted {
		o.pageSize = longRecords
	}
	preferred := reply.Preference(&ctx.Request.Header, "odata.maxpagesize", "maxpagesize")
	if size, err := strconv.Atoi(preferred); err == nil && size > 0 {
		o.pageSize, o.preferred = min(size, o.pageSize), true
	}
	return o, nil
}

func listed(known []string) string { return "$" + strings.Join(known, ", $") }

func (o *options) read(s *set, name, text string) (err error) {
	switch name {
	case "filter":
		o.filter, err = parseFilter(s, text)
	case "select":
		o.selected, err = s.selection(text)
	case "orderby":
		o.order, err = s.orderOf(text)
	case "count":
		if o.count, err = strconv.ParseBool(text); err != nil || len(text) < len("true") {
			return badRequest("$count is true or false")
		}
	case "top", "skip":
		n, err := strconv.ParseUint(text, 10, 62) // of greater ones it is the greatest
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return badRequest("$%s is a whole number from 0 on, not %s", name, list.Quoted(text))
		}
		if name == "top" {
			o.top = int64(n)
		} else {
			o.skip = n
		}
	case "skiptoken":
		state, at, found := strings.Cut(text, "~")
		n, err := strconv.ParseUint(at, 10, 62)
		if err != nil || !found || state == "" || o.skip > 0 || strings.Trim(state, tokenBytes) != "" {
			return badRequest("this $skiptoken is none that @odata.nextLink had, or has a $skip beside it; send the " +
				"link as it is, or begin again with the first page")
		}
		o.state, o.skip = state, n
	}
	return err
}

// longRecords is the most records of a page that is made as a whole, and not while it is sent: each
// has control information, or numbers as texts.
const longRecords = 1000

// tokenBytes are the bytes of versions and of ids of snapshots.
const tokenBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

// selection reads a $select.
func (s *set) selection(text string) (all []int, err error) {
	isWhole := false
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "*" {
			isWhole = true
			continue
		}
		at := s.indexOf(strings.TrimPrefix(name, namespace+"."+s.Name+"/"))
		if at < 0 {
			return nil, badRequest("$select: there is no property %s; %s", list.Quoted(name), s.near(name))
		}
		all = append(all, at)
	}
	slices.Sort(all)
	if all = slices.Compact(all); isWhole || len(all) == len(s.Properties) {
		return nil, nil
	}
	return all, nil
}

// orderOf reads a $orderby. It is nil for the order of the rows. Nothing after the key matters.
func (s *set) orderOf(text string) (order []by, err error) {
	isOfRows := true
	for i, part := range strings.Split(text, ",") {
		name, direction, _ := strings.Cut(strings.TrimSpace(part), " ")
		of := by{s.indexOf(name), strings.EqualFold(strings.TrimSpace(direction), "desc")}
		switch {
		case of.property < 0:
			return nil, badRequest("$orderby: there is no property %s; %s", list.Quoted(name), s.near(name))
		case !of.down && direction != "" && !strings.EqualFold(strings.TrimSpace(direction), "asc"):
			return nil, badRequest("$orderby: %s is neither asc nor desc", list.Quoted(direction))
		}
		if slices.ContainsFunc(order, func(b by) bool { return b.property == of.property }) {
			isOfRows = false
			continue // it sorts nothing any more
		}
		order = append(order, of)
		if s.Properties[of.property].isKey() {
			if isOfRows && !of.down {
				return nil, nil
			}
			return order, nil
		}
		isOfRows = isOfRows && !of.down && i < len(s.sorted) && s.sorted[i] == of.property
	}
	if isOfRows {
		return nil, nil
	}
	return order, nil
}

// formOf is how an answer is written to a client that sends a value of Accept, or $format. mayXML
// is false for the service document and for records, which are JSON only.
func formOf(accept, format string, mayXML bool) (f form, err error) {
	switch format {
	case "":
	case "json":
		accept = contract.JSONType
	case "xml":
		accept = xmlType
	default:
		accept = format
	}
	f, ok := bestForm(accept, mayXML)
	if f.byName = format != ""; !ok {
		return f, list.Faultf(fasthttp.StatusNotAcceptable,
			"answers are application/json, with odata.metadata=minimal, none or full, and IEEE754Compatible=true or "+
				"false; $metadata is also %s", xmlType)
	}
	return f, nil
}

const xmlType = "application/xml"

// formParams are the parameters of a form, in lower case, and their values.
var formParams = map[string][]string{
	"metadata": levelNames[:], "ieee754compatible": {"true", "false"}, "exponentialdecimals": {"true", "false"},
	"streaming": {"true", "false"}, "charset": {"utf-8", "utf8"},
}

// bestForm is the form that a value of Accept prefers; the first one of equal weights. $metadata is
// XML wherever that is accepted: clients that read both name JSON first, for the other answers. A
// form with a parameter that is not known is none that there is, as the standard says.
func bestForm(accept string, mayXML bool) (best form, ok bool) {
	if strings.TrimSpace(accept) == "" {
		return form{xml: true}, true
	}
	weight, xml := 0.0, false
	for part := range strings.SplitSeq(accept, ",") {
		params := strings.Split(part, ";")
		f, q, isKnown := form{}, 1.0, true
		for _, p := range params[1:] {
			name, v, _ := strings.Cut(strings.ToLower(strings.TrimSpace(p)), "=")
			v = strings.Trim(v, `"`)
			if name = strings.TrimPrefix(name, "odata."); name == "q" {
				q, _ = strconv.ParseFloat(v, 64)
				break // what follows is no parameter of the form
			}
			isKnown = isKnown && (name == "" || slices.Contains(formParams[name], v))
			switch name {
			case "metadata":
				f.level = level(max(slices.Index(levelNames[:], v), 0))
			case "ieee754compatible":
				f.quoted = v == "true"
			}
		}
		t := strings.ToLower(strings.TrimSpace(params[0]))
		if !isKnown || t == xmlType && !mayXML {
			continue
		}
		switch t {
		case contract.JSONType:
		case xmlType, "text/html", "text/plain", "text/*", "application/*", "*/*":
			xml = xml || q > 0
		default:
			continue
		}
		if q > weight {
			best, weight, ok = f, q, true
		}
	}
	best.xml = xml
	return best, ok
}
