package browse

import (
	"encoding/json"
	"errors"
	"strings"
)

// scanner reads the answers of our own renderer: {"data":[...]} with flat records that have the
// same fields in the same order, for which encoding/json takes several times as long.
type scanner struct {
	text string
	at   int
}

var errAnswer = errors.New("not what the renderer writes")

// skip passes what must come next.
func (s *scanner) skip(text string) bool {
	if !strings.HasPrefix(s.text[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

func (s *scanner) records() ([]record, error) {
	if !s.skip(`{"data":[`) {
		return nil, errAnswer
	}
	var all []record
	var names []string
	var store []Value // of many records, so that each needs no memory of its own
	at := map[string]int{}
	for !s.skip("]}") {
		if len(all) > 0 && !s.skip(",") || !s.skip("{") {
			return nil, errAnswer
		}
		from := len(store)
		for !s.skip("}") {
			if len(store) > from && !s.skip(",") {
				return nil, errAnswer
			}
			name, err := s.value()
			if err != nil || name.null || !s.skip(":") {
				return nil, errAnswer
			}
			switch n := len(store) - from; {
			case len(all) == 0:
				if _, twice := at[name.text]; twice {
					return nil, errAnswer
				}
				at[name.text] = n
				names = append(names, name.text)
			case n >= len(names) || names[n] != name.text:
				return nil, errAnswer
			}
			v, err := s.value()
			if err != nil {
				return nil, err
			}
			store = append(store, v)
		}
		if len(store)-from != len(names) {
			return nil, errAnswer
		}
		all = append(all, record{at, store[from:len(store):len(store)]})
	}
	if strings.TrimSpace(s.text[s.at:]) != "" {
		return nil, errAnswer
	}
	return all, nil
}

// isNumeral reports whether a word is made of what numbers are made of.
func isNumeral(word string) bool { return strings.Trim(word, "+-.0123456789eE") == "" }

// value reads a text, a number, a flag or null.
func (s *scanner) value() (v Value, err error) {
	rest := s.text[s.at:]
	if !strings.HasPrefix(rest, `"`) {
		end := strings.IndexAny(rest, ",}]")
		if end < 1 {
			return v, errAnswer
		}
		word := rest[:end]
		s.at += end
		if word == "null" {
			return Value{null: true}, nil
		}
		if word != "true" && word != "false" && !isNumeral(word) {
			return v, errAnswer
		}
		return Value{text: word}, nil
	}
	end := strings.IndexAny(rest[1:], `"\\`)
	if end < 0 {
		return v, errAnswer
	}
	if rest[1+end] == '"' {
		s.at += end + 2
		return Value{text: rest[1 : 1+end]}, nil
	}
	for end++; end < len(rest) && rest[end] != '"'; end++ {
		if rest[end] == '\\' {
			end++
		}
	}
	if end >= len(rest) {
		return v, errAnswer
	}
	s.at += end + 1
	return v, json.Unmarshal([]byte(rest[:end+1]), &v.text)
}
