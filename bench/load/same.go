package load

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// answer is a whole answer, for comparison or to be served as a file.
type answer struct {
	status      int
	etag, total string
	contentType string
	sent        []byte // body as sent
	coded       bool   // in a content coding
	body        []byte // decoded
}

// plain requests no coding and follows no redirect on its own.
var plain = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 2},
	Timeout:       answerTimeout,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// fetch sends a query once, unconditionally, and decodes the answer.
func (s *Server) fetch(q Query, encoding string) (*answer, error) {
	asked := s.ask(q, encoding)
	r, err := http.NewRequest(asked.method, s.URL+asked.target, strings.NewReader(asked.body))
	if err != nil {
		return nil, err
	}
	if !q.Anonymous {
		name, value, _ := strings.Cut(identifierHeader, ": ")
		r.Header.Set(name, value)
	}
	if asked.accept != "" {
		r.Header.Set("Accept", asked.accept)
	}
	r.Header.Set("Accept-Encoding", s.coding(encoding))
	response, err := plain.Do(r)
	if err != nil {
		return nil, fmt.Errorf("load: %s: %s: %w", s.Name, q.Name, err)
	}
	defer response.Body.Close()
	a := &answer{
		status: response.StatusCode, etag: response.Header.Get("ETag"), total: response.Header.Get("X-Total-Count"),
		contentType: response.Header.Get("Content-Type"),
	}
	if a.sent, err = io.ReadAll(response.Body); err != nil {
		return nil, fmt.Errorf("load: %s: %s: %w", s.Name, q.Name, err)
	}
	coding := response.Header.Get("Content-Encoding")
	a.coded = coding != "" && coding != Identity
	if a.body, err = decode(a.sent, coding); err != nil {
		return nil, fmt.Errorf("load: %s: %s: %w", s.Name, q.Name, err)
	}
	return a, nil
}

func decode(body []byte, coding string) ([]byte, error) {
	switch coding {
	case "", Identity:
		return body, nil
	case Gzip:
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	case Zstd:
		z, err := zstd.NewReader(nil)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return z.DecodeAll(body, nil)
	}
	return nil, fmt.Errorf("coding %q was not requested", coding)
}

// rowTexts converts an answer's body to one text per record that does not depend on notation: keys
// in order, numbers as the nearest 64-bit float, fields that are missing as null.
func rowTexts(contentType string, body []byte, fields []string) ([]string, error) {
	if kind, _, _ := strings.Cut(contentType, ";"); strings.HasSuffix(kind, "/csv") {
		all, err := csv.NewReader(bytes.NewReader(body)).ReadAll()
		rows := make([]string, len(all))
		for i, cells := range all {
			rows[i] = strings.Join(cells, "\x1f")
		}
		return rows, err
	}
	all, err := records(body)
	if err != nil {
		return nil, err
	}
	rows := make([]string, len(all))
	var b []byte
	for i, record := range all {
		for _, name := range fields {
			if _, has := record[name]; !has {
				record[name] = nil
			}
		}
		b = appendRecord(b[:0], record)
		rows[i] = string(b)
	}
	return rows, nil
}

// records parses a JSON body in any of three shapes: a list under "data", a bare list, or columns
// and rows.
func records(body []byte) ([]map[string]any, error) {
	if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		var all []map[string]any
		return all, json.Unmarshal(body, &all)
	}
	var whole struct {
		Data    []map[string]any
		Columns []string
		Rows    [][]any
	}
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, err
	}
	if whole.Data != nil {
		return whole.Data, nil
	}
	if whole.Rows == nil || whole.Columns == nil {
		return nil, fmt.Errorf("no list under %q, nor %q and %q", "data", "columns", "rows")
	}
	all := make([]map[string]any, len(whole.Rows))
	for i, cells := range whole.Rows {
		if len(cells) != len(whole.Columns) {
			return nil, fmt.Errorf("row %d has %d cells under %d columns", i, len(cells), len(whole.Columns))
		}
		all[i] = make(map[string]any, len(cells))
		for k, cell := range cells {
			all[i][whole.Columns[k]] = cell
		}
	}
	return all, nil
}

func appendRecord(b []byte, record map[string]any) []byte {
	for _, name := range slices.Sorted(maps.Keys(record)) {
		b = append(append(b, name...), '=')
		switch v := record[name].(type) {
		case float64:
			b = strconv.AppendFloat(b, v, 'g', -1, 64)
		case string:
			b = strconv.AppendQuote(b, v)
		default:
			b = fmt.Append(b, v)
		}
		b = append(b, '\x1f')
	}
	return b
}

// Agreed is the size of the answer on which servers agree.
type Agreed struct {
	Rows  int
	Bytes int // of the decoded body
}

// SameRows sends a query to every server and fails unless all answer with the query's status and,
// for a 200, the same records in the same order. The first server also has to give the uncompressed
// answer, so that each of its codings is compared with that. Servers without the query are left
// out.
func SameRows(servers []*Server, q Query, encoding string) (Agreed, error) {
	type asked struct {
		server   *Server
		encoding string
	}
	var all []asked
	if len(servers) > 0 && encoding != Identity {
		all = append(all, asked{servers[0], Identity})
	}
	for _, s := range servers {
		all = append(all, asked{s, encoding})
	}
	var agreed Agreed
	var first []string
	of := ""
	for _, a := range all {
		if a.server.ask(q, a.encoding).target == "" {
			continue
		}
		name := a.server.Name + " (" + a.server.coding(a.encoding) + ")"
		rows, size, err := a.server.rows(q, a.encoding)
		if err != nil {
			return agreed, fmt.Errorf("%s: %s: %w", q.Name, name, err)
		}
		if of == "" {
			of, first, agreed = name, rows, Agreed{len(rows), size}
			continue
		}
		if len(rows) != len(first) {
			return agreed, fmt.Errorf("%s: %s gives %d rows and %s gives %d: not compared", q.Name, of, len(first),
				name, len(rows))
		}
		for i := range rows {
			if rows[i] != first[i] {
				return agreed, fmt.Errorf("%s: row %d differs, not compared: %s gives %.300s and %s gives %.300s",
					q.Name, i, of, first[i], name, rows[i])
			}
		}
	}
	return agreed, nil
}

// rows returns the records of a query's answer, nil if it is not a 200, and the size of the decoded
// body.
func (s *Server) rows(q Query, encoding string) ([]string, int, error) {
	a, err := s.fetch(q, encoding)
	if err != nil {
		return nil, 0, err
	}
	want := q.Status
	if q.Conditional {
		want = http.StatusOK
	}
	if a.status != want {
		return nil, 0, fmt.Errorf("status %d, want %d: %.200s", a.status, want, a.body)
	}
	if want != http.StatusOK {
		return nil, len(a.body), nil
	}
	var fields []string
	if s.Translation != nil {
		fields = s.Translation.fields
	}
	rows, err := rowTexts(a.contentType, a.body, fields)
	if err != nil {
		return nil, 0, fmt.Errorf("not rows: %w", err)
	}
	return rows, len(a.body), nil
}

// Answers fails unless the server answers a query with its status.
func (s *Server) Answers(q Query) error {
	a, err := s.fetch(q, Identity)
	if err != nil {
		return err
	}
	if a.status != q.Status {
		return fmt.Errorf("load: %s: status %d, want %d", s.Name, a.status, q.Status)
	}
	return nil
}

// TotalRows returns the number of rows of all lists in a server's OpenAPI description; 0 if it has
// none.
func (s *Server) TotalRows() int {
	a, err := s.fetch(Query{Name: "openapi", Target: "/openapi.json"}, Identity)
	if err != nil {
		return 0
	}
	var description struct{ Paths map[string]any }
	if err := json.Unmarshal(a.body, &description); err != nil {
		return 0
	}
	rows := 0
	for list := range description.Paths {
		if _, part := description.Paths[path.Dir(list)]; part {
			continue // the same rows in another way
		}
		a, err := s.fetch(Query{Name: list, Target: list + "?limit=1"}, Identity)
		if err != nil {
			return 0
		}
		if n, err := strconv.Atoi(a.total); err == nil {
			rows += n
		}
	}
	return rows
}
