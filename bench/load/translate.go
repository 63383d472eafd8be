package load

import (
	"bufio"
	"errors"
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
	t := translator{Translation: Translation{asks: map[string]ask{}}}
	scanner := bufio.NewScanner(r)
	for n := 1; scanner.Scan(); n++ {
		line := strings.NewReplacer(t.words...).Replace(strings.TrimSpace(scanner.Text()))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if err := t.read(word, strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("translation line %d: %w", n, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, err
	}
	if err := t.finish(); err != nil {
		return nil, fmt.Errorf("translation: at its end, %w", err)
	}
	if len(t.asks) == 0 {
		return nil, errors.New("translation: no queries")
	}
	return &t.Translation, nil
}

// translator is a translation while it is read.
type translator struct {
	Translation
	words []string // of let, each followed by its text
	name  string   // of the query whose lines are being read; empty before the first
	now   ask
	sql   []string
}

// read takes a line.
func (t *translator) read(word, rest string) error {
	if rest == "" {
		return fmt.Errorf("%q says nothing", word)
	}
	switch word {
	case "let":
		short, long, _ := strings.Cut(rest, " ")
		t.words = append(t.words, "{"+short+"}", strings.TrimSpace(long))
		return nil
	case "absent-is-null":
		t.fields = strings.Fields(rest)
		return nil
	case "query":
		if err := t.finish(); err != nil {
			return fmt.Errorf("before it, %w", err)
		}
		if _, has := t.asks[rest]; has {
			return fmt.Errorf("a second query %q", rest)
		}
		t.name, t.now, t.sql = rest, ask{}, nil
		return nil
	}
	if t.name == "" {
		return fmt.Errorf("%q before the first query", word)
	}
	switch word {
	case "get", "post":
		if !strings.HasPrefix(rest, "/") {
			return fmt.Errorf("path %q does not begin with /", rest)
		}
		t.now.method, t.now.target = strings.ToUpper(word), rest
	case "accept":
		t.now.accept = rest
	case "sql":
		t.sql = append(t.sql, rest)
	default:
		return fmt.Errorf("unknown word %q", word)
	}
	return nil
}

// finish puts the query that was read with the others.
func (t *translator) finish() error {
	if t.name == "" {
		return nil
	}
	sql := strings.Join(t.sql, " ")
	switch {
	case t.now.target == "":
		return fmt.Errorf("query %q has neither get nor post", t.name)
	case t.now.method == http.MethodPost:
		t.now.body = sql
	case sql != "" && strings.Contains(t.now.target, "?"):
		t.now.target += "&sql=" + url.QueryEscape(sql)
	case sql != "":
		t.now.target += "?sql=" + url.QueryEscape(sql)
	}
	t.asks[t.name] = t.now
	return nil
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
