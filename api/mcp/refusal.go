package mcp

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hdqs/api/contract"
	"hdqs/api/reply"
)

// refusal is an answer that is none: what is wrong, and the call that is right if it is known.
type refusal struct {
	Message  string    `json:"error"`
	Problems []problem `json:"problems,omitempty"`
	Instead  *Call     `json:"instead,omitempty"`
}

type problem struct {
	Argument string `json:"argument"`
	Message  string `json:"message"`
}

func (r *refusal) Error() string { return r.Message }

// refused is an error of a question as a refusal, if the caller can do something about it.
func (c *call) refused(err error) error {
	r := new(refusal)
	if invalid, ok := errors.AsType[*contract.Invalid](err); ok {
		return c.invalid(invalid.Issues)
	} else if bad, ok := errors.AsType[*contract.BadDay](err); ok {
		r.Message, r.Instead = bad.Error(), c.withYears()
		return r
	} else if gone, ok := errors.AsType[*reply.Gone](err); ok {
		r.Message, r.Instead = gone.Detail(), c.with("since", nil, "since")
		return r
	}
	wait := reply.WaitOf(err)
	if wait == "" {
		return err
	}
	r.Message = "the service is busy; send the same call again in " + wait + " seconds"
	r.Instead = &Call{c.tool, c.sent}
	return r
}

// settled is a call that answers. A sum in which a name was wrong can be a wrong sum too: then it
// is the one that its refusal would name.
func settled(c *call, next *Call) *Call {
	for n := 0; n < 3 && next != nil; n++ { // an argument, a filter, the sum
		other := &call{of: c.of, served: c.served, base: c.base}
		at := slices.IndexFunc(tools, func(t *mcp.Tool) bool { return t.Name == next.Tool })
		err := other.read(tools[at], marshal(next.Arguments))
		if err == nil {
			_, err = answerers[next.Tool](other)
		}
		refused, ok := errors.AsType[*refusal](err)
		if !ok || refused.Instead == nil {
			break
		}
		next = refused.Instead
	}
	return next
}

// withYears is the call with the years of its dates, nil if one has none.
func (c *call) withYears() *Call {
	if c.args.EndDate != "" {
		year := yearOf(c.args.EndDate)
		if year == "" {
			return nil
		}
		return c.with("end_date", year)
	}
	filters := map[string]any{}
	for name, value := range c.args.Filters {
		if strings.HasSuffix(name, "_date") {
			if value = yearOf(textOf(value)); value == "" {
				return nil
			}
		}
		filters[name] = value
	}
	return c.with("filters", filters)
}

// yearOf is the first year in a text, empty if there is none.
func yearOf(text string) string {
	for i := 0; i+4 <= len(text); i++ {
		if part := text[i : i+4]; strings.Trim(part, "0123456789") == "" && part > "1900" && part < "2100" {
			return part
		}
	}
	return ""
}

// invalid makes a refusal of violations. The call that is right is the one that the interface
// names, or this one with the names and values that were meant.
func (c *call) invalid(issues []contract.Issue) error {
	r := &refusal{}
	mended, filters := 0, map[string]any{}
	maps.Copy(filters, c.args.Filters)
	for i := range issues {
		issue := &issues[i]
		detail := issue.Detail()
		name := cmp.Or(detail.Part, issue.Param)
		r.Problems = append(r.Problems, problem{name, issue.Text.String()})
		if issue.Instead != nil && r.Instead == nil {
			r.Instead = callFor(issue.Instead)
		}
		value, isFilter := filters[name]
		_, taken := filters[detail.Meant]
		switch {
		case !isFilter:
		case issue.Type == "enum" && name == levelField && listNamed(c.args.List).HasPeriod():
			filters[name] = contract.Coarsest
			mended++
		case detail.Meant == "":
		case issue.Type == "enum" || contract.IsGroupParam(name):
			filters[name] = detail.Meant
			mended++
		case !taken:
			delete(filters, name)
			filters[detail.Meant] = value
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

// callFor is the call of a tool that asks a question.
func callFor(q *contract.Question) *Call {
	e, tool := q.Endpoint(), "rows"
	arguments, filters := map[string]any{"list": e.Name()}, map[string]any{}
	if q.Plan().Kind == contract.Aggregate {
		tool = "aggregate"
		if names := q.GroupNames(); names != nil {
			arguments["group_by"] = names
		}
		if names := q.MeasureNames(); !slices.Equal(names, usualMeasures) {
			arguments["measures"] = names
		}
	}
	for pair := range slices.Chunk(q.Pairs(), 2) {
		several, isSeveral := strings.CutSuffix(pair[0], contract.SeveralSuffix)
		if isSeveral && !strings.Contains(pair[1], `\`) && !q.Has(several) {
			filters[several] = q.Texts(pair[0])
		} else {
			filters[pair[0]] = pair[1]
		}
	}
	if len(filters) > 0 {
		arguments["filters"] = filters
	}
	return &Call{tool, arguments}
}
