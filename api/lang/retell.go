package lang

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// telling is a sentence of the interface, with its translation.
type telling struct {
	sentence *regexp.Regexp // with a group for each argument
	letters  int            // besides the arguments
	format   string
}

// argument is what stands in place of an argument: no end of a sentence.
const argument = `((?:[^.]|\.\S)+?)`

// leastLetters is how many letters a sentence has besides its arguments. What has fewer, such as
// "and", is only said within arguments.
const leastLetters = 7

// tellings are the sentences of a file, those with the most letters first: a sentence can be the
// end of another.
func tellings(formats map[string]string) (all []telling) {
	for key, format := range formats {
		parts := strings.Split(key, "%s")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		sentence := regexp.MustCompile("^" + strings.Join(parts, argument) + "$")
		all = append(all, telling{sentence, len(strings.ReplaceAll(key, "%s", "")), format})
	}
	slices.SortFunc(all, func(a, b telling) int {
		return cmp.Or(cmp.Compare(b.letters, a.letters), strings.Compare(a.format, b.format))
	})
	return all
}

// Retell says in the language what the interface says in English. Of several sentences each is
// retold, and so are arguments that are sentences. It is not ok if one is not known.
func (l *Language) Retell(text string) (retold string, ok bool) {
	l = l.or()
	if l.IsEnglish() || text == "" {
		return text, true
	}
	if retold, ok = l.sentence(text, leastLetters); ok {
		return retold, true
	}
	var all []string
	for one := range strings.SplitAfterSeq(text, ". ") {
		if retold, ok = l.sentence(strings.TrimSpace(one), leastLetters); !ok {
			return text, false
		}
		all = append(all, retold)
	}
	return strings.Join(all, " "), true
}

// sentence retells a sentence, or a part of one, with at least so many letters besides arguments.
func (l *Language) sentence(text string, letters int) (retold string, ok bool) {
	for _, t := range l.retold() {
		if t.letters < letters {
			break
		}
		found := t.sentence.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		var args []any
		for _, arg := range found[1:] {
			if more, ok := l.sentence(arg, 0); ok {
				arg = more
			}
			args = append(args, arg)
		}
		return fmt.Sprintf(t.format, l.isolatedIn(args)...), true
	}
	return text, false
}
