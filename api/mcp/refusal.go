package mcp

import (
	"cmp"
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
	again    bool      // the snapshot of earlier questions is gone
}

type problem struct {
	Argument string `json:"argument"`
	Message  string `json:"message"`
}

func (r *refusal) Error() string { return r.Message }

// issue is a violation in the body of a 422.
type issue struct {
	Where []any  `json:"loc"`
	Text  string `json:"msg"`
	Ctx   struct{ Instead, Expected string }
}

// refused makes a refusal of an answer of the interface.
func (c *call) refused(reply *Reply) error {
	var body struct{ Detail json.RawMessage }
	var issues []issue
	isGone := reply.Status == http.StatusGone
	r := &refusal{again: isGone && c.snapshot != ""}
	_ = json.Unmarshal(reply.Body, &body) // without a text there is the status
	if json.Unmarshal(body.Detail, &issues) == nil && len(issues) > 0 {
		return c.invalid(issues)
	}
	_ = json.Unmarshal(body.Detail, &r.Message)
	r.Message = cmp.Or(r.Message, http.StatusText(reply.Status))
	switch {
	case reply.Status == http.StatusNotFound:
		r.Message = "the service does not have what this tool asks for: its version is another"
	case reply.Status == http.StatusServiceUnavailable || reply.Status == http.StatusTooManyRequests:
		r.Message = "the service is busy; send the same call again in " + reply.Header.Get("Retry-After") + " seconds"
		r.Instead = &Call{c.tool, c.sent}
	case isGone && c.args.Since != "":
		r.Instead = c.with("since", nil, "since")
	case reply.Status == http.StatusBadRequest && c.args.EndDate != "":
		r.Instead = c.with("end_date", yearOf(c.args.EndDate))
	case reply.Status == http.StatusBadRequest:
		filters := map[string]any{}
		for name, value := range c.args.Filters {
			if filters[name] = value; strings.HasSuffix(name, "_date") {
				filters[name] = yearOf(textOf(value))
			}
		}
		r.Instead = c.with("filters", filters)
	}
	return r
}

// yearOf is the first year in a text, and the form that is wanted if there is none.
func yearOf(text string) string {
	for i := 0; i+4 <= len(text); i++ {
		if part := text[i : i+4]; strings.Trim(part, "0123456789") == "" && part > "1900" && part < "2100" {
			return part
		}
	}
	return "YYYY-MM-DD"
}

// invalid makes a refusal of violations. The call that is right is the one that the interface
// names, or this one with the names and values that were meant.
func (c *call) invalid(issues []issue) error {
	r := &refusal{}
	mended, filters := 0, map[string]any{}
	maps.Copy(filters, c.args.Filters)
	for _, i := range issues {
		name, _ := i.Where[len(i.Where)-1].(string)
		text, _, _ := strings.Cut(i.Text, " Right: ")
		r.Problems = append(r.Problems, problem{name, text})
		if u, err := url.Parse(i.Ctx.Instead); err == nil && r.Instead == nil {
			r.Instead = callFor(u.Path, u.Query())
		}
		value, isFilter := filters[name]
		meant := meantName(text)
		if meant == "" && i.Ctx.Expected != "" && isFilter {
			if filters[name] = meantValue(name, textOf(value), i.Ctx.Expected); filters[name] != "" {
				mended++
			}
		} else if _, taken := filters[meant]; meant != "" && isFilter && !taken {
			delete(filters, name)
			filters[meant] = value
			mended++
		}
	}
	if r.Message = r.Problems[0].Argument + ": " + r.Problems[0].Message; len(r.Problems) == 1 {
		r.Problems = nil
	}
	if r.Instead == nil && mended == len(issues) {
		r.Instead = c.with("filters", filters)
	} else if r.Instead == nil && c.args.List != "" { // the list's entry has all names
		r.Instead = &Call{"find", map[string]any{"words": c.args.List, "kind": "list"}}
	}
	return r
}

// meantName is the name that a message says was meant, empty without one.
func meantName(text string) string {
	_, meant, _ := strings.Cut(text, "did you mean ")
	meant, _, _ = strings.Cut(meant, "?")
	meant, _, _ = strings.Cut(meant, " ")
	return meant
}

// meantValue is the value of an enumeration, given as 'a', 'b' or 'c', that was probably meant.
func meantValue(name, value, expected string) string {
	if name == levelField {
		return contract.Coarsest
	}
	var all []string
	for i, part := range strings.Split(expected, "'") {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	value = strings.ReplaceAll(strings.ToLower(value), " ", "_")
	return cmp.Or(nearest.Of(value, all), nearest.Of(strings.ToUpper(value), all))
}

// callFor is the call of a tool that asks a request of the interface, nil if no tool asks it.
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
		case name == "limit" || name == "offset" || name == contract.SnapshotParam:
		case isSeveral && !strings.Contains(value, `\`):
			filters[several] = strings.Split(value, ",")
		default:
			filters[name] = value
		}
	}
	if len(filters) > 0 {
		arguments["filters"] = filters
	}
	return &Call{tool, arguments}
}
