package list

import (
	"net/url"
	"slices"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/lang"
	"hdqs/api/reply"
	"hdqs/api/say"
	"hdqs/api/state"
	"hdqs/index"
)

// mostMeant is how many names a hint has.
const mostMeant = 3

// NameHints are names that were probably meant by filters of names which match none: the same but
// for accents, apostrophes, or how letters are composed.
func NameHints(q *contract.Question, of *state.BoundList) (hints []say.Text) {
	for _, f := range q.Filters {
		p := &q.Plan().Params[f.Param]
		if p.Op != index.Contains || of.Segment == nil {
			continue
		}
		want := p.Literal(f.Value.Text)
		c, fault := of.Segment.Column(p.Columns[0])
		if bare := lang.Folded(want); fault == nil && bare != "" {
			if names := meantNames(c.Cardinality(), c.TextOf, strings.ToLower(want), bare); names != nil {
				hints = append(hints, say.Of("%s: %s", p.Name, contract.DidYouMean(strings.Join(names, ", "))))
			}
		}
	}
	return hints
}

// meantNames are the first of n names that have a text as its bare form has it, none if one has the
// text itself.
func meantNames(n int, name func(uint32) string, text, bare string) (all []string) {
	for code := range uint32(n) {
		own := name(code)
		switch {
		case strings.Contains(strings.ToLower(own), text):
			return nil
		case len(all) < mostMeant && strings.Contains(lang.Folded(own), bare):
			all = append(all, own)
		}
	}
	slices.Sort(all)
	return all
}

// betweenHints separates several hints.
const betweenHints = " | "

// hintHeader has hints as a header field, none without hints.
func hintHeader(hints []say.Text) []reply.HeaderField {
	if len(hints) == 0 {
		return nil
	}
	all := make([]string, len(hints))
	for i, hint := range hints {
		all[i] = hint.String()
	}
	return []reply.HeaderField{{Name: contract.HeaderHint, Value: inASCII(strings.Join(all, betweenHints))}}
}

// inASCII is a text with other letters as in an address: many programs read a header as Latin-1.
func inASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		if ' ' <= r && r <= '~' {
			b.WriteRune(r)
		} else {
			b.WriteString(url.PathEscape(string(r)))
		}
	}
	return b.String()
}
