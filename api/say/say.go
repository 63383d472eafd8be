// Package say has what the service says to people as data: an English format and its arguments.
// JSON bodies and header fields print it in English, pages in the language of the reader.
package say

import (
	"cmp"
	"fmt"
	"strings"
)

// Text is one or more sentences, or a part of one. The zero Text says nothing.
type Text struct {
	Format string // English, with %s for each argument; the key of its translations
	Args   []any  // each a string, which is the same in all languages, or a Text
}

// Of is a text of a format. Numbers among the arguments become strings.
func Of(format string, args ...any) Text {
	for i, arg := range args {
		switch arg.(type) {
		case Text, string:
		default:
			args[i] = fmt.Sprint(arg)
		}
	}
	return Text{format, args}
}

// Named is the text with other words for some of its arguments, such as names for codes.
func (t Text) Named(words map[string]string) Text {
	named := Text{t.Format, make([]any, len(t.Args))}
	for i, arg := range t.Args {
		switch arg := arg.(type) {
		case Text:
			named.Args[i] = arg.Named(words)
		case string:
			named.Args[i] = cmp.Or(words[arg], arg)
		}
	}
	return named
}

// IsZero reports whether a text says nothing.
func (t Text) IsZero() bool { return t.Format == "" }

// String is the text in English.
func (t Text) String() string {
	if len(t.Args) == 0 {
		return t.Format
	}
	return fmt.Sprintf(t.Format, t.Args...)
}

// MarshalText implements encoding.TextMarshaler.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Join is texts one after the other, with blanks between them. Empty ones are left out.
func Join(texts ...Text) (all Text) {
	for _, t := range texts {
		switch {
		case t.IsZero():
		case all.IsZero():
			all = t
		default:
			all = Of("%s %s", all, t)
		}
	}
	return all
}

// maxListed is how many values a list of them repeats.
const maxListed = 6

// And is a list of values as in a sentence: a, b and c.
func And(values []string) Text {
	var shown []string
	for _, v := range values[:min(len(values), maxListed)] {
		if v == "" {
			v = "(empty)"
		}
		shown = append(shown, v)
	}
	last := len(shown) - 1
	switch more := len(values) - len(shown); {
	case more > 0:
		return Of("%s and %s", strings.Join(shown, ", "), Of("%s more", more))
	case last == 0:
		return Of("%s", shown[0])
	}
	return Of("%s and %s", strings.Join(shown[:last], ", "), shown[last])
}
