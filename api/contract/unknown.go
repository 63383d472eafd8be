package contract

import (
	"slices"
	"unicode/utf8"
)

// Bounds of what answers repeat of unknown parameters.
const (
	maxUnknown     = 16 // names
	maxUnknownName = 40 // bytes of one name
)

// What replaces names that are not repeated.
const (
	emptyName    = "(empty)"
	withheldName = "(withheld)"
)

// UnknownNames lists the parameters that the endpoint does not have, sorted and without duplicates.
// A caller who put an identifier where a name belongs must not get it back, since caches would
// spread it: only what looks like a name is repeated, as it was sent.
func (r *Request) UnknownNames() []string {
	var names []string
	for _, encoded := range r.unknown {
		name := appendDecoded(nil, encoded)
		shown := withheldName
		switch {
		case len(name) == 0:
			shown = emptyName
		case isName(name) && !hidesText(name):
			shown = string(name)
		}
		names = append(names, shown)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxUnknown {
		names = append(names[:maxUnknown], "...")
	}
	return names
}

// isName accepts what somebody may have meant as a parameter's name: a letter or '_', then letters,
// digits, '_', '.' and '-'. Such names are also safe in a header. The length bounds the work of
// hidesText.
func isName(text []byte) bool {
	if len(text) > maxUnknownName || text[0] != '_' && !isLetter(text[0]) {
		return false
	}
	for _, c := range text {
		if !isLetterOrDigit(c) && c != '_' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isLetterOrDigit(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

// Base64 text counts as a piece of an identifier when it has minHidden printable characters in a
// row, or when it has an '@' and is as long as the shortest identifier, in any script. This
// withholds 0.2 % of 5,000 ordinary names of fields and functions; 6 characters in a row would
// withhold 1 %.
const (
	minHidden     = 7
	minIdentifier = minApplication + len(":m@a.b")
)

// hidesText reports whether a part of a name is base64 text. The part may begin anywhere, use the
// URL alphabet or the standard one, and contain characters that decoders drop: so the whole name is
// decoded from each of its first four digits, once with '-' and '_' as digits and once without.
func hidesText(name []byte) bool {
	var digitsRoom, textRoom [maxUnknownName]byte
	for _, digit := range []func(byte) int{base64Digit, anyBase64Digit} {
		digits := digitsRoom[:0]
		for _, c := range name {
			if digit(c) >= 0 {
				digits = append(digits, c)
			}
		}
		for first := range min(4, len(digits)) {
			if text, _ := appendGroups(textRoom[:0], digits[first:], digit); isHidden(text) {
				return true
			}
		}
	}
	return false
}

// isHidden reports whether arbitrary bytes contain text.
func isHidden(decoded []byte) bool {
	printable, valid, at := 0, 0, false
	for len(decoded) > 0 {
		r, n := utf8.DecodeRune(decoded)
		decoded = decoded[n:]
		if r == utf8.RuneError && n == 1 {
			printable, valid, at = 0, 0, false
			continue
		}
		valid += n
		at = at || r == '@'
		if ' ' <= r && r <= '~' {
			printable++
		} else {
			printable = 0
		}
		if printable >= minHidden || at && valid >= minIdentifier {
			return true
		}
	}
	return false
}

// UnknownFaults are the issues of a request that must not have unknown parameters. Their input is
// null: the value of a misspelled parameter may be an identifier. preferred says that the client
// has asked for strict handling.
func (r *Request) UnknownFaults(preferred bool) *Invalid {
	all := Invalid{Preferred: preferred}
	for _, name := range r.UnknownNames() {
		all.Issues = append(all.Issues, Issue{
			Type: "extra_forbidden", Param: name, Text: "Extra inputs are not permitted", NullInput: true,
		})
	}
	return &all
}

// HasUnknown reports whether the request has parameters that the endpoint does not have.
func (r *Request) HasUnknown() bool { return len(r.unknown) > 0 }
