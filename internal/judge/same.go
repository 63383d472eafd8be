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
				all = append(all, plainNumber(cell, cell))
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
		switch token := token.(type) {
		case json.Number:
			all = append(all, plainNumber(token.String(), token.String()))
		default:
			all = append(all, fmt.Sprintf("%q", fmt.Sprint(token)))
		}
	}
}

// plainNumber is the exact value of a number, or other if the text is none.
func plainNumber(text, other string) string {
	if text == "" || strings.Trim(text, "0123456789.eE+-") != "" || isCode(text) {
		return other
	}
	if number, word, ok := numberText(text); ok && !word {
		return exactOf(number).RatString()
	}
	return other
}

// isCode reports whether digits begin with a zero that no number has.
func isCode(text string) bool {
	return len(text) > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'
}
