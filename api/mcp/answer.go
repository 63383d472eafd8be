package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// mostBytes is the length of the longest answer, which has no more characters than bytes.
const mostBytes = 50_000

// mostRead is the longest answer of a replica elsewhere that is read.
const mostRead = 64 << 20

func readAll(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, mostRead)) }

// Call is a call of a tool.
type Call struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// Answer is what every tool but find answers. Fields that do not apply are left out.
type Answer struct {
	List     string            `json:"list,omitempty"`
	Figure   string            `json:"figure,omitempty"`
	Total    int               `json:"total"` // of all pages
	Shown    int               `json:"shown"`
	Cut      string            `json:"cut,omitempty"` // why not all are shown
	Next     *Call             `json:"next,omitempty"`
	Units    map[string]string `json:"units,omitempty"` // by field
	Records  *int              `json:"records,omitempty"`
	Levels   []int             `json:"admin_levels,omitempty"`
	From     string            `json:"period_start,omitempty"`
	To       string            `json:"period_end,omitempty"`
	Coverage string            `json:"coverage,omitempty"`
	Updated  string            `json:"updated,omitempty"`
	Stale    string            `json:"stale_since,omitempty"`
	Partial  string            `json:"provisional,omitempty"` // periods whose records their source will replace
	Sources  []cited           `json:"sources,omitempty"`
	License  string            `json:"license,omitempty"` // where no source of the records is known
	Warnings []string          `json:"warnings,omitempty"`
	Instead  *Call             `json:"instead,omitempty"` // what was probably meant
	Nothing  *Nothing          `json:"nothing,omitempty"`
	Reading  string            `json:"reading,omitempty"`
	NotThis  string            `json:"not,omitempty"`
	Snapshot string            `json:"snapshot"`
	URL      string            `json:"url"`

	// Of find only.
	Query  string `json:"query,omitempty"`
	Sought string `json:"searched_instead,omitempty"`
	Kinds  any    `json:"kinds,omitempty"`

	Rows []json.RawMessage `json:"-"`
	name string            // of the rows
	next map[string]any    // arguments of the next page, but for offset
	from int               // the offset
}

// Nothing says that there is nothing, and what there is instead.
type Nothing struct {
	Statement string     `json:"statement"`
	Nearest   []existing `json:"nearest,omitempty"`
}

// existing is what there is without one of the filters.
type existing struct {
	Without string   `json:"without"`
	Records int      `json:"records"`
	Values  []string `json:"values,omitempty"` // that the field of the filter has
	More    int      `json:"more_values,omitempty"`
	Levels  []int    `json:"admin_levels,omitempty"`
	From    string   `json:"period_start,omitempty"`
	To      string   `json:"period_end,omitempty"`
	Call    *Call    `json:"call,omitempty"`
}

// fit leaves out rows until the answer is short enough, and says how to go on.
func (a *Answer) fit(c *call) {
	if a.name == "" {
		a.name = "rows"
	}
	space := mostBytes - len(marshal(a)) - 400 // for what is added here
	n := 0
	for n < len(a.Rows) && space >= len(a.Rows[n])+1 {
		space -= visibleLength(a.Rows[n]) + 1
		if space < 0 {
			break
		}
		n++
	}
	cut := n < len(a.Rows)
	a.Rows, a.Shown = a.Rows[:n], n
	if a.from+n >= a.Total {
		return
	}
	a.Cut = fmt.Sprintf("rows %d to %d of %d", a.from+1, a.from+n, a.Total)
	if n == 0 {
		a.Cut = fmt.Sprintf("none of %d rows", a.Total)
	}
	if cut {
		a.Cut += ": an answer has at most " + strconv.Itoa(mostBytes) + " characters"
	}
	if a.next != nil && n > 0 {
		a.next["offset"] = a.from + n
		a.Next = &Call{c.args.tool, a.next}
	}
}

// json is the answer with its rows, which come last.
func (a *Answer) json() []byte {
	body := bytes.TrimSuffix(marshal(a), []byte("}"))
	body = append(append(append(body, `,"`...), a.name...), `":[`...)
	for i, row := range a.Rows {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, row...)
	}
	return append(body, "]}"...)
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
// Texts with hidden instructions are written with them.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || unicode.Is(unicode.Variation_Selector, r)
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
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}

// visibleLength is the length of visible.
func visibleLength(body []byte) int { return len(visible(body)) }
