package judge

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// refusalDifference compares the parameters that an error names with those that it should.
func refusalDifference(want, got string) string {
	var refused struct {
		Detail []struct {
			Loc []string `json:"loc"`
			Msg string   `json:"msg"`
		} `json:"detail"`
	}
	if err := json.Unmarshal([]byte(got), &refused); err != nil {
		return fmt.Sprintf("body: %v in %s", err, clip(got))
	}
	var names []string
	for _, item := range refused.Detail {
		if len(item.Loc) < 2 || item.Loc[0] != "query" || item.Msg == "" {
			return "body: an item without a place or a text: " + clip(got)
		}
		names = append(names, item.Loc[1])
	}
	slices.Sort(names)
	if want == anyName && len(names) > 0 {
		return ""
	}
	if have := strings.Join(slices.Compact(names), " "); have != want {
		return fmt.Sprintf("body: errors of %q, want errors of %q: %s", have, want, clip(got))
	}
	return ""
}

// suggested is the request that the error of a wrong sum suggests, nil if there is none.
func suggested(r request, got reply) *request {
	var refused struct {
		Detail []struct {
			Ctx struct {
				Instead string `json:"instead"`
			} `json:"ctx"`
		} `json:"detail"`
	}
	if got.Status != 422 || json.Unmarshal([]byte(got.Body), &refused) != nil || len(refused.Detail) == 0 ||
		refused.Detail[0].Ctx.Instead == "" {
		return nil
	}
	return &request{
		Method: "GET", Path: refused.Detail[0].Ctx.Instead,
		Headers: map[string]string{identifierHeader: goodOne, "Accept-Encoding": r.header("Accept-Encoding")},
	}
}

// lost is what is asked of an endpoint and is not in the request that a refusal suggests.
func (w *world) lost(asked, right request) string {
	path, was, _ := strings.Cut(asked.Path, "?")
	_, now, _ := strings.Cut(right.Path, "?")
	e, _ := w.listOf(path)
	return e.lost(readQuery(was), readQuery(now))
}

// lost is what is asked for and is not in the request that a refusal suggests, empty if all is: its
// groups, its filters, and all times of a question over time. The level may differ, and where no
// time is a group, the suggested request may be about the newest rows.
func (e *endpoint) lost(asked, right query) string {
	isOverTime := false
	for _, p := range asked {
		value, has := right.last(p.name)
		want, got := strings.Split(p.value, ","), strings.Split(value, ",")
		isLost := func(text string) bool { return !slices.Contains(got, text) }
		switch last, _ := asked.last(p.name); {
		case last != p.value || last == "": // another value counts, or there is no filter
		case p.name == "group_by":
			isOverTime = slices.ContainsFunc(want, func(name string) bool {
				return slices.Contains(periodParts, name) || slices.Contains(periodColumns, name)
			})
			if slices.ContainsFunc(want, isLost) {
				return "group_by=" + p.value
			}
		case p.name == "start_date" || p.name == "end_date": // suggested as instants
			if !has {
				return p.name
			}
		case p.name == "admin_level" || e.param(p.name) == nil || len(e.param(p.name).Columns) == 0:
		case e.param(p.name).Type == "boolean": // suggested as true or false
			if !has {
				return p.name
			}
		case len(want) != len(got) || slices.ContainsFunc(want, isLost):
			return p.name + "=" + p.value
		}
	}
	was, _ := asked.last("latest")
	if now, _ := right.last("latest"); isOverTime && was != now {
		return "latest=" + was
	}
	return ""
}

// valuesDifference compares bodies value by value. Numbers are compared exactly, however they are
// written.
func valuesDifference(want, got string) string {
	if want == got {
		return ""
	}
	a, errA := values(want)
	b, errB := values(got)
	if err := errors.Join(errA, errB); err != nil {
		return fmt.Sprintf("body: %v in %s", err, clip(got))
	}
	for i := range max(len(a), len(b)) {
		x, y := "nothing", "nothing"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			return fmt.Sprintf("body: value %d is %s, want %s\n    want ...%s\n    got  ...%s", i, clip(y), clip(x),
				clip(strings.Join(a[max(0, i-12):min(len(a), i+6)], " ")),
				clip(strings.Join(b[max(0, i-12):min(len(b), i+6)], " ")))
		}
	}
	return ""
}

// values lists the tokens of a JSON body, or the cells of a CSV one.
func values(body string) ([]string, error) {
	var all []string
	if !strings.HasPrefix(body, "{") {
		lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		for _, line := range lines {
			for _, cell := range line {
				all = append(all, plainNumber(cell))
			}
			all = append(all, "end of line")
		}
		return all, err
	}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if number, is := token.(json.Number); is {
			all = append(all, plainNumber(number.String()))
		} else {
			all = append(all, fmt.Sprintf("%q", fmt.Sprint(token)))
		}
	}
}

// plainNumber is the exact value of a number, or the text if it is none.
func plainNumber(text string) string {
	if strings.Trim(text, "0123456789.eE+-") == "" && !isCode(text) {
		if number, word, ok := numberText(text); ok && !word {
			return exactOf(number).RatString()
		}
	}
	return text
}

// isCode reports whether digits begin with a zero that no number has.
func isCode(text string) bool {
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}
