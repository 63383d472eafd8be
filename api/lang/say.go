package lang

import (
	"fmt"
	"strings"
	"unicode"

	"hdqs/api/say"
)

// Say is a text in the language. It is not ok if a part of it has no translation: then all of it is
// in English.
func (l *Language) Say(t say.Text) (text string, ok bool) {
	l = l.or()
	format, known := l.own().said[t.Format]
	switch {
	case l.IsEnglish():
		return t.String(), true
	case known:
	case strings.ContainsFunc(strings.ReplaceAll(t.Format, "%s", ""), unicode.IsLetter):
		return t.String(), false
	default:
		format = t.Format
	}
	if len(t.Args) == 0 {
		return format, true
	}
	args := make([]any, len(t.Args))
	for i, arg := range t.Args {
		args[i] = arg
		if part, isText := arg.(say.Text); isText {
			if args[i], ok = l.Say(part); !ok {
				return t.String(), false
			}
		}
	}
	return fmt.Sprintf(format, l.isolatedIn(args)...), true
}
