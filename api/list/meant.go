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
// letters away.
func NameHints(q *contract.Question, b *state.Bound, of *state.BoundList) (hints []say.Text) {
	for _, f := range q.Filters {
		p := &q.Plan().Params[f.Param]
		isCode := p.Op == index.Like && strings.HasSuffix(p.Columns[0], "location_code")
		if p.Op != index.Contains && !isCode || of.Segment == nil {
			continue
		}
		c, fault := of.Segment.Column(p.Columns[0])
		if fault != nil {
			continue
		}
		for _, v := range p.ValuesOf(&f) {
			var names []string
			want := p.Literal(v.Text)
			if !isCode {
				names = meantNames(c.Cardinality(), c.TextOf, want)
			}
			if names == nil && c.Cardinality() <= mostNear {
				names = nearNames(want, c.Cardinality(), c.TextOf, b.Countries)
			}
			if names != nil {
				hints = append(hints, say.Of("%s: %s", p.Name, contract.DidYouMean(strings.Join(names, ", "))))
			}
		}
	}
	return hints
}

// mostNear is how many names a misspelled one is compared with.
const mostNear = 5000

// nearNames are the first of n names at the smallest distance from a text of which at most a
// quarter is wrong, none if one has the text, or a country that may have no records here.
func nearNames(text string, n int, name func(uint32) string, countries []state.Country) (all []string) {
	for code := range uint32(n) {
		if strings.EqualFold(name(code), text) {
			return nil
		}
	}
	isCountry := func(c state.Country) bool {
		return strings.EqualFold(c.Code, text) || strings.EqualFold(c.Name, text)
	}
	if strings.ContainsAny(text, `%_\`) || slices.ContainsFunc(countries, isCountry) { // a pattern is no name
		return nil
	}
	var folded []string
	own := map[string]string{}
	for code := range uint32(n) {
		if strings.Contains(strings.ToLower(name(code)), strings.ToLower(text)) {
			return nil
		}
		folded = append(folded, lang.Folded(name(code)))
		own[folded[code]] = name(code)
	}
	if text = lang.Folded(text); len(text) < len("AFG") {
		return nil
	}
	for _, near := range nearest.All(text, folded, max(1, len(text)/4)) {
		all = append(all, own[near])
	}
	slices.Sort(all)
	return all[:min(len(all), mostMeant)]
}

// meantNames are the first of n names that have a text as its bare form has it, none if one has the
// text itself.
func meantNames(n int, name func(uint32) string, text string) (all []string) {
	bare, lower := lang.Folded(text), strings.ToLower(text)
	for code := range uint32(n) {
		own := name(code)
		switch {
		case strings.Contains(strings.ToLower(own), lower):
			return nil
		case bare != "" && len(all) < mostMeant && strings.Contains(lang.Folded(own), bare):
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
