package mcp

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
)

// refusal is an answer that is none: what is wrong, and the call that is right if it is known.
type refusal struct {
	Message  string    `json:"error"`
	Problems []problem `json:"problems,omitempty"`
	Instead  *Call     `json:"instead,omitempty"`
	gone     bool      // the snapshot is
}

type problem struct {
	Argument string `json:"argument"`
	Message  string `json:"message"`
}

func (r *refusal) Error() string { return r.Message }
func (r *refusal) json() []byte  { return marshal(r) }

// issue is a violation in the body of a 422.
type issue struct {
	Type  string   `json:"type"`
	Where []string `json:"loc"`
	Text  string   `json:"msg"`
	Ctx   struct {
		Instead  string `json:"instead"`
		Expected string `json:"expected"`
	} `json:"ctx"`
}

// refused makes a refusal of an answer of the interface.
func (c *call) refused(reply *Reply) error {
	switch reply.Status {
	case http.StatusUnprocessableEntity:
		var body struct {
			Detail []issue `json:"detail"`
		}
		if json.Unmarshal(reply.Body, &body) == nil && len(body.Detail) > 0 {
			return c.invalid(body.Detail)
		}
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return &refusal{
			Message: "The service is busy; send the same call again in " + reply.Header.Get("Retry-After") + " seconds",
			Instead: &Call{c.args.tool, c.args.sent},
		}
	}
	var body struct {
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(reply.Body, &body) // without a text there is the status
	if body.Detail == "" {
		body.Detail = http.StatusText(reply.Status)
	}
	r := &refusal{Message: body.Detail, gone: reply.Status == http.StatusGone}
	switch {
	case reply.Status == http.StatusBadRequest && c.hasDates():
		r.Message += ". Dates are YYYY-MM-DD, YYYY-MM or YYYY"
		r.Instead = c.withoutDates()
	case r.gone && c.args.Since != "":
		r.Instead = c.with("since", "")
		delete(r.Instead.Arguments, "since")
	}
	return r
}

// dates are filters and arguments with a day.
var dates = []string{"start_date", "end_date"}

func (c *call) hasDates() bool {
	return c.args.EndDate != "" || c.args.Filters["start_date"] != nil || c.args.Filters["end_date"] != nil
}

// withoutDates is the call whose dates are cut to their year, where they have one.
func (c *call) withoutDates() *Call {
	year := func(value any) (string, bool) {
		text, _ := textOf(value)
		for i := 0; i+4 <= len(text); i++ {
			if part := text[i : i+4]; strings.Trim(part, "0123456789") == "" && (part[:2] == "19" || part[:2] == "20") {
				return part, true
			}
		}
		return "", false
	}
	if c.args.EndDate != "" {
		if y, ok := year(c.args.EndDate); ok {
			return c.with("end_date", y)
		}
		return nil
	}
	filters := maps.Clone(c.args.Filters)
	for _, name := range dates {
		if value, has := filters[name]; has {
			if y, ok := year(value); ok {
				filters[name] = y
			} else {
				return nil
			}
		}
	}
	return c.withFilters(filters)
}

// invalid makes a refusal of violations. The call that is right is the one that the interface names,
// or this one with the names and values that were meant.
func (c *call) invalid(all []issue) error {
	r := &refusal{Message: "refused"}
	filters, mended := maps.Clone(c.args.Filters), 0
	for _, i := range all {
		name := ""
		if len(i.Where) > 0 {
			name = i.Where[len(i.Where)-1]
		}
		text, _, _ := strings.Cut(i.Text, " Right: ")
		r.Problems = append(r.Problems, problem{name, text})
		if r.Instead == nil && i.Ctx.Instead != "" {
			r.Instead = c.callOf(i.Ctx.Instead)
		}
		value, isFilter := filters[name]
		if !isFilter {
			continue
		}
		if _, meant, ok := strings.Cut(text, "did you mean "); ok {
			meant = strings.FieldsFunc(meant, func(r rune) bool { return r == ' ' || r == '?' })[0]
			if _, taken := filters[meant]; !taken {
				delete(filters, name)
				filters[meant] = value
				mended++
			}
		} else if was, _ := textOf(value); i.Ctx.Expected != "" {
			meant := meantOf(name, was, i.Ctx.Expected)
			if meant != "" {
				filters[name] = meant
				mended++
			}
		}
	}
	r.Message = r.Problems[0].Message
	if len(r.Problems) == 1 {
		r.Message = r.Problems[0].Argument + ": " + r.Message
		r.Problems = nil
	}
	switch {
	case r.Instead != nil:
	case mended == len(all):
		r.Instead = c.withFilters(filters)
	case c.args.List != "":
		r.Instead = &Call{"find", map[string]any{"words": c.args.List, "kind": "list"}} // which has all names
	}
	return r
}

// meantOf is the value of an enumeration that was probably meant: 'a', 'b' or 'c'.
func meantOf(name, value, expected string) string {
	if name == "admin_level" {
		return contract.Coarsest
	}
	var all []string
	for i, part := range strings.Split(expected, "'") {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	value = strings.ReplaceAll(strings.ToLower(value), " ", "_")
	for _, one := range all {
		if strings.EqualFold(one, value) || len(value) > 2 && strings.HasPrefix(strings.ToLower(one), value[:3]) {
			return one
		}
	}
	return nearest.Of(value, all)
}

// callOf is the call of a tool that asks a request of the interface. It is nil for what no tool
// asks.
func (c *call) callOf(request string) *Call {
	u, err := url.Parse(request)
	if err != nil {
		return nil
	}
	params := u.Query()
	return callFor(u.Path, params)
}

// callFor is callOf of a path and its parameters.
func callFor(at string, params url.Values) *Call {
	tool := "rows"
	switch base := path.Base(at); base {
	case "aggregate", "changes":
		tool, at = base, path.Dir(at)
	}
	e := listNamed(at)
	if e == nil {
		return nil
	}
	arguments, filters := map[string]any{"list": e.Name()}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		value := params.Get(name)
		several, isSeveral := strings.CutSuffix(name, contract.SeveralSuffix)
		switch {
		case name == "group_by" || name == "measures" || name == "fields":
			arguments[name] = strings.Split(value, ",")
		case name == "since":
			arguments[name] = value
		case name == "limit" || name == "offset" || name == contract.SnapshotParam || name == "app_identifier":
		case isSeveral && !strings.Contains(value, `\`):
			filters[several] = strings.Split(value, ",")
			if !strings.Contains(value, ",") && several != "sector_code" {
				filters[several] = value
			}
		default:
			filters[name] = value
		}
	}
	if len(filters) > 0 {
		arguments["filters"] = filters
	}
	return &Call{tool, arguments}
}
