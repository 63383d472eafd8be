package load

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Translation says how a server that speaks another interface is asked the queries of a mix, so that it can be measured all the same. It
// changes how a question is put and never which rows answer it: those are compared like any other server's.
type Translation struct {
	asks   map[string]ask // by the name of the query
	fields []string       // of a record; those that an answer leaves out are null. nil: nothing is left out
}

// ask is how a query is put to a server. The one without a target is not put at all.
type ask struct {
	method, target string
	accept         string
	body           string
}

// ReadTranslation reads a translation. Its lines are a word and what it says:
//
//	let NAME text          {NAME} is text from here on
//	absent-is-null a b c   the fields of a record, if the server leaves out those that are null
//	query NAME             what follows is about this query of the mix
//	get /path?query        or post /path
//	accept type            the header
//	sql text               parameter sql of a get, body of a post; more such lines go on with it
//
// Empty lines and those that begin with # do not count.
func ReadTranslation(r io.Reader) (*Translation, error) {
	t := &Translation{asks: map[string]ask{}}
	words := []string{}
	name, sql := "", ""
	finish := func() error {
		a, had := t.asks[name]
		switch {
		case name == "":
			return nil
		case !had || a.target == "":
			return fmt.Errorf("query %q has neither get nor post", name)
		case a.method == http.MethodPost:
			a.body = sql
		case sql != "":
			separator := "?"
			if strings.Contains(a.target, "?") {
				separator = "&"
			}
			a.target += separator + "sql=" + url.QueryEscape(sql)
		}
		t.asks[name] = a
		return nil
	}
	scanner := bufio.NewScanner(r)
	for n := 1; scanner.Scan(); n++ {
		line := strings.NewReplacer(words...).Replace(strings.TrimSpace(scanner.Text()))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if rest = strings.TrimSpace(rest); rest == "" {
			return nil, fmt.Errorf("translation line %d: %q says nothing", n, word)
		}
		a := t.asks[name]
		switch word {
		case "let":
			short, long, _ := strings.Cut(rest, " ")
			words = append(words, "{"+short+"}", strings.TrimSpace(long))
			continue
		case "absent-is-null":
			t.fields = strings.Fields(rest)
			continue
		case "query":
			if err := finish(); err != nil {
				return nil, fmt.Errorf("translation line %d: before it, %w", n, err)
			}
			if _, has := t.asks[rest]; has {
				return nil, fmt.Errorf("translation line %d: a second query %q", n, rest)
			}
			name, sql, a = rest, "", ask{}
		case "get", "post":
			if !strings.HasPrefix(rest, "/") {
				return nil, fmt.Errorf("translation line %d: path %q does not begin with /", n, rest)
			}
			a.method, a.target = strings.ToUpper(word), rest
		case "accept":
			a.accept = rest
		case "sql":
			sql = strings.TrimSpace(sql + " " + rest)
		default:
			return nil, fmt.Errorf("translation line %d: unknown word %q", n, word)
		}
		if name == "" {
			return nil, fmt.Errorf("translation line %d: %q before the first query", n, word)
		}
		t.asks[name] = a
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	if err := finish(); err != nil {
		return nil, fmt.Errorf("translation: at its end, %w", err)
	}
	if len(t.asks) == 0 {
		return nil, fmt.Errorf("translation: no queries")
	}
	return t, nil
}

// ask is how a server is asked a query.
func (s *Server) ask(q Query, encoding string) ask {
	switch {
	case s.Translation != nil:
		return s.Translation.asks[q.Name]
	case s.Path != nil:
		return ask{method: http.MethodGet, target: s.Path(q, encoding)}
	}
	return ask{method: http.MethodGet, target: q.Target}
}

// coding is the one a server is asked for where others are asked for encoding.
func (s *Server) coding(encoding string) string {
	if s.Encoding != "" {
		return s.Encoding
	}
	return encoding
}
