package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode"
	"unicode/utf8"

	"hdqs/api/say"
)

// mostBytes is the length of the longest answer, which has no more characters than bytes.
const mostBytes = 50_000

// Call is a call of a tool.
type Call struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// Answer is what every tool answers. Fields that do not apply are left out.
type Answer struct {
	List     string            `json:"list,omitempty"`
	Figure   string            `json:"figure,omitempty"`
	Reading  string            `json:"reading,omitempty"` // how to read the figure, and what it is not
	NotThis  string            `json:"not,omitempty"`
	Query    string            `json:"query,omitempty"`
	Searched string            `json:"searched_instead,omitempty"`
	Kinds    any               `json:"kinds,omitempty"`
	Total    int               `json:"total"` // of all pages
	Shown    int               `json:"shown"`
	Cut      string            `json:"cut,omitempty"` // why not all are shown
	Next     *Call             `json:"next,omitempty"`
	Units    map[string]string `json:"units,omitempty"`   // by field
	Records  *int              `json:"records,omitempty"` // that were counted or added up
	scope                      // of all records
	Coverage string            `json:"coverage,omitempty"`
	Updated  string            `json:"updated,omitempty"`
	Stale    string            `json:"stale_since,omitempty"`
	Partial  string            `json:"provisional,omitempty"` // periods whose records their source will replace
	Sources  []cited           `json:"sources,omitempty"`
	License  string            `json:"license,omitempty"` // where no source of the records is known
	Warnings []string          `json:"warnings,omitempty"`
	Instead  *Call             `json:"instead,omitempty"` // what was probably meant
	Nothing  *nothing          `json:"nothing,omitempty"`
	Snapshot string            `json:"snapshot"`
	URL      string            `json:"url"` // of a request that gives the same

	Rows []json.RawMessage `json:"-"`
}

func (a *Answer) warn(hints ...say.Text) {
	for _, hint := range hints {
		if !hint.IsZero() && !slices.Contains(a.Warnings, hint.String()) {
			a.Warnings = append(a.Warnings, hint.String())
		}
	}
}

// nothing says that there is nothing, and what there is instead.
type nothing struct {
	Statement string     `json:"statement"`
	Nearest   []existing `json:"nearest,omitempty"`
}

// existing is what there is without one of the filters.
type existing struct {
	Without string   `json:"without"`
	Records int      `json:"records,omitempty"` // of lists
	Values  []string `json:"values,omitempty"`  // that the field of the filter has
	More    int      `json:"more_values,omitempty"`
	scope
	Call *Call `json:"call,omitempty"`
}

// cited is a source of records.
type cited struct {
	Dataset  string `json:"dataset"`
	Provider string `json:"provider,omitempty"`
	License  string `json:"license"`
	Updated  string `json:"updated,omitempty"`
	Link     string `json:"link,omitempty"`
}

// render is the answer as JSON with its rows, which come last and are cut where it is too long.
func (a *Answer) render(c *call) []byte {
	const added = 1000 // the most that is written below
	next := maps.Clone(c.sent)
	space, n := mostBytes-added-len(visible(marshal(a)))-len(marshal(next)), 0
	var rows []byte
	for ; n < len(a.Rows); n++ {
		row := visible(a.Rows[n])
		if len(rows)+len(row)+1 > space {
			break
		}
		rows = append(append(rows, row...), ',')
	}
	from := c.args.Offset
	if a.Shown = n; from+n < a.Total {
		a.Cut = fmt.Sprintf("rows %d to %d of %d", from+1, from+n, a.Total)
		if n < len(a.Rows) {
			a.Cut += fmt.Sprintf(": an answer has at most %d characters", mostBytes)
		}
		next["offset"] = from + n
		a.Next = &Call{c.tool, next}
	}
	name := "rows"
	if c.tool == "find" {
		name = "results"
	}
	body := append(bytes.TrimSuffix(visible(marshal(a)), []byte("}")), `,"`+name+`":[`...)
	return append(append(body, bytes.TrimSuffix(rows, []byte(","))...), "]}"...)
}

// marshal is a value as JSON, with < and > as they are.
func marshal(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(err) // there are only texts, numbers and JSON that was read
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// isHidden reports whether a sign is one that no reader sees, or that changes how others are shown.
// Instructions can be hidden in such signs.
func isHidden(r rune) bool {
	return r > '~' && unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// visible is JSON in which hidden signs are escaped. As JSON it has the same values.
func visible(body []byte) []byte {
	if bytes.IndexFunc(body, isHidden) < 0 {
		return body
	}
	var b []byte
	for _, r := range string(body) {
		switch {
		case !isHidden(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			b = fmt.Appendf(b, `\u%04x\u%04x`, (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}
