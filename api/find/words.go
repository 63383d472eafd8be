package find

import (
	_ "embed"
	"maps"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed words.txt
var wordsText string

// phrases are the lines of words.txt, by section and code.
var phrases = sync.OnceValue(func() map[string]map[string][]string {
	all, section := map[string]map[string][]string{}, map[string][]string(nil)
	for line := range strings.Lines(wordsText) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = map[string][]string{}
			all[strings.TrimSuffix(name, "]")] = section
			continue
		}
		code, words, ok := strings.Cut(line, ":")
		if !ok || line[0] == '#' {
			continue
		}
		for phrase := range strings.SplitSeq(words, ",") {
			section[code] = append(section[code], strings.TrimSpace(phrase))
		}
	}
	return all
})

// stopWords are words that need not match.
var stopWords = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for words := range maps.Values(phrases()["stop"]) {
		for _, word := range words {
			all[strings.Join(wordsOf(word), " ")] = true
		}
	}
	return all
})

// letters are those that decomposition does not change, and that people write in another way.
var letters = map[rune]string{
	'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'ß': "ss", 'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h",
	'ة': "ه", 'ى': "ي",
}

// article is the Arabic one, which is written with its word.
const article = "ال"

// wordsOf are the words of a text as they are compared: in lower case, without accents, without
// apostrophes and without an Arabic article.
func wordsOf(text string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() == 0 {
			return
		}
		w := word.String()
		for rest := strings.TrimPrefix(w, article); len(rest) > len(article) && len(rest) < len(w); {
			w, rest = rest, strings.TrimPrefix(rest, article)
		}
		words = append(words, w)
		word.Reset()
	}
	for _, r := range norm.NFKD.String(strings.ToValidUTF8(text, " ")) {
		switch r = unicode.ToLower(r); {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9': // no look-ups for most
			word.WriteByte(byte(r))
		case r == ' ':
			end()
		case letters[r] != "":
			word.WriteString(letters[r])
		case unicode.Is(unicode.Mn, r), unicode.Is(unicode.Lm, r), isApostrophe(r):
		case unicode.IsLetter(r), unicode.IsNumber(r):
			word.WriteRune(r)
		default:
			end()
		}
	}
	end()
	return words
}

// isApostrophe reports whether a sign stands within a word.
func isApostrophe(r rune) bool { return strings.ContainsRune("'’‘`´ʹ.", r) }

// folded is a text as it is compared.
func folded(text string) string { return strings.Join(wordsOf(text), " ") }

// needed are the words that must match: those that are no stop words, or all if no other is left.
func needed(words []string) []string {
	var all []string
	for _, w := range words {
		if !stopWords()[w] {
			all = append(all, w)
		}
	}
	if all == nil {
		return words
	}
	return all
}
