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
	"hdqs/internal/nearest"
)

// mostMeant is how many names a hint has.
const mostMeant = 3

// NameHints are values that were probably meant by filters of names or codes of countries, which
// match none: the same but for accents, apostrophes, or how letters are composed, or else a few
// letters away. Where records pass, only a list of codes can have such a value; where nothing is
// near one, no country has it, since the records of the others would look as if they were all.
func NameHints(q *contract.Question, b *state.Bound, of *state.BoundList, total int) (hints []say.Text) {
	for _, f := range q.Filters {
		p := &q.Plan().Params[f.Param]
		isCode := p.Op == index.Like && strings.HasSuffix(p.Columns[0], "location_code")
		if !isCode && (p.Op != index.Contains || total > 0) || !p.List && total > 0 || of.Segment == nil {
			continue
		}
		n, at := len(b.Countries), func(i uint32) string { return b.Countries[i].Code }
		isAlone := n == 0 || !isCode || !p.List && q.Plan().Kind != contract.Figures
		if c, fault := of.Segment.Column(p.Columns[0]); fault == nil {
			n, at = c.Cardinality(), c.TextOf
		} else if !isCode {
			continue
		}
		for _, v := range p.ValuesOf(&f) {
			text := p.Literal(v.Text)
			names := meantNames(text, n, at, isCode, b.Countries)
			for i := range b.Countries {
				if c := &b.Countries[i]; !isAlone && strings.EqualFold(c.Name, text) {
					names = append(names, c.Code)
				}
			}
			if names != nil {
				hints = append(hints, say.Of("%s: %s", p.Name, contract.DidYouMean(strings.Join(names, ", "))))
			} else if !isAlone && !strings.ContainsAny(text, wildcards) && !isThere(text, n, at, b.Countries) {
				none := say.Of("%s: no country has the code %.12s", p.Name, text) // too little for an e-mail
				hints = append(hints, none)
			}
		}
	}
	return hints
}

// wildcards are in patterns, which are no names.
const wildcards = `%_\`

// mostNear is how many names a misspelled one is compared with.
const mostNear = 5000

// meantNames are the first of n names that have a text as its bare form has it, but for codes, or
// else those at the smallest distance from it, of which at most a quarter is wrong. There are none
// if one has the text itself, or it is a country, which may have no records here.
func meantNames(
	text string, n int, at func(uint32) string, isCode bool, countries []state.Country,
) (all []string) {
	if isThere(text, n, at, countries) {
		return nil
	}
	lower, bare := strings.ToLower(text), lang.Folded(text)
	isSought := n <= mostNear && !strings.ContainsAny(text, wildcards) && len(bare) >= len("AFG")
	var near []string
	own := map[string]string{}
	for code := range uint32(n) {
		written := at(code)
		if strings.Contains(strings.ToLower(written), lower) {
			return nil
		}
		folded := lang.Folded(written)
		if !isCode && bare != "" && len(all) < mostMeant && strings.Contains(folded, bare) {
			all = append(all, written)
		}
		if isSought {
			near, own[folded] = append(near, folded), written
		}
	}
	if all == nil {
		for _, folded := range nearest.All(bare, near, max(1, len(bare)/4)) {
			all = append(all, own[folded])
		}
	}
	slices.Sort(all)
	return all[:min(len(all), mostMeant)]
}

// isThere reports whether a text is one of n names, or a country. Most are: they allocate nothing.
func isThere(text string, n int, at func(uint32) string, countries []state.Country) bool {
	for code := range uint32(n) {
		if strings.EqualFold(at(code), text) {
			return true
		}
	}
	return slices.ContainsFunc(countries, func(c state.Country) bool {
		return strings.EqualFold(c.Code, text) || strings.EqualFold(c.Name, text)
	})
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
