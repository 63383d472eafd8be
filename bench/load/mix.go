package load

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// Query is one request of a mix.
type Query struct {
	Weight      int
	Name        string
	Target      string // path and query string
	Status      int    // required
	Conditional bool   // sent with the ETag of its own answer; then Status is 304
	Anonymous   bool   // sent without the application identifier
	Bounds      []Bound
}

// ReadMix reads a mix. Each line is a query: weight, name, path with query string, and optionally
// status=N, conditional, anonymous and bounds. Empty lines and
// lines that start with # are ignored.
func ReadMix(r io.Reader) ([]Query, error) {
	var mix []Query
	names := map[string]bool{}
	scanner := bufio.NewScanner(r)
	for n := 1; scanner.Scan(); n++ {
		fields := strings.Fields(scanner.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("mix line %d: %d fields, want weight, name and path", n, len(fields))
		}
		weight, err := strconv.Atoi(fields[0])
		if err != nil || weight < 0 {
			return nil, fmt.Errorf("mix line %d: weight %q is not a number of at least 0", n, fields[0])
		}
		q := Query{Weight: weight, Name: fields[1], Target: fields[2], Status: 200}
		if !strings.HasPrefix(q.Target, "/") {
			return nil, fmt.Errorf("mix line %d: path %q does not start with /", n, q.Target)
		}
		if names[q.Name] {
			return nil, fmt.Errorf("mix line %d: duplicate query %q", n, q.Name)
		}
		names[q.Name] = true
		for _, word := range fields[3:] {
			if err := q.read(word); err != nil {
				return nil, fmt.Errorf("mix line %d: %w", n, err)
			}
		}
		mix = append(mix, q)
	}
	if len(mix) == 0 && scanner.Err() == nil {
		return nil, fmt.Errorf("mix: no queries")
	}
	return mix, scanner.Err()
}

// rowsOf returns the number of rows of a query's page, in a list of total rows. Answers without a
// total have none.
func rowsOf(q Query, total string) int {
	all, err := strconv.Atoi(total)
	if err != nil {
		return 0
	}
	_, query, _ := strings.Cut(q.Target, "?")
	values, _ := url.ParseQuery(query)
	limit, _ := strconv.Atoi(cmp.Or(values.Get("limit"), "10000"))
	offset, _ := strconv.Atoi(values.Get("offset"))
	return max(0, min(limit, all-offset))
}

// read reads a word that follows the path.
func (q *Query) read(word string) (err error) {
	switch name, value, _ := strings.Cut(word, "="); {
	case name == "status":
		if q.Status, err = strconv.Atoi(value); err != nil {
			return fmt.Errorf("status %q is not a number", value)
		}
	case word == "conditional":
		q.Conditional, q.Status = true, 304
	case word == "anonymous":
		q.Anonymous = true
	default:
		bound, err := readBound(word)
		q.Bounds = append(q.Bounds, bound)
		return err
	}
	return err
}
