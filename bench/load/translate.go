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

// Translation maps the queries of a mix to requests of a server with another interface. It changes
// only the form of a request: the rows of the answers are compared like any other server's.
type Translation struct {
	asks   map[string]ask // by the name of the query
	fields []string       // of a record; missing ones are null. nil: none are missing
}

// ask is a query as sent to a server. Without a target it is not sent.
type ask struct {
	method, target string
	accept         string
	body           string
}

// ReadTranslation reads a translation. Its lines are a keyword and its value:
//
//	let NAME text          {NAME} stands for text in the lines below
//	absent-is-null a b c   the fields of a record, for a server that leaves out null fields
//	query NAME             begins the lines of this query of the mix
//	get /path?query        or post /path
//	accept type            the header
//	sql text               parameter sql of a get, body of a post; several lines are joined
//
// Empty lines and lines that start with # are ignored.
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
		return nil, fmt.Errorf("translation: at its end: %w", err)
	}
	if len(t.asks) == 0 {
		return nil, errors.New("translation: no queries")
	}
	return &t.Translation, nil
}

// translator is the state of reading a translation.
type translator struct {
	Translation
	words []string // names of let lines, each followed by its text
	name  string   // of the current query; empty before the first
	now   ask
	sql   []string
}

// read reads a line.
func (t *translator) read(word, rest string) error {
	if rest == "" {
		return fmt.Errorf("%q without a value", word)
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
			return fmt.Errorf("before it: %w", err)
		}
		if _, has := t.asks[rest]; has {
			return fmt.Errorf("duplicate query %q", rest)
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
			return fmt.Errorf("path %q does not start with /", rest)
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

// finish stores the current query.
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

// ask returns a query as sent to this server.
func (s *Server) ask(q Query, encoding string) ask {
	switch {
	case s.Translation != nil:
		return s.Translation.asks[q.Name]
	case s.Path != nil:
		return ask{method: http.MethodGet, target: s.Path(q, encoding)}
	}
	return ask{method: http.MethodGet, target: q.Target}
}

// coding returns the coding to request from this server: its own, or encoding.
func (s *Server) coding(encoding string) string {
	if s.Encoding != "" {
		return s.Encoding
	}
	return encoding
}
