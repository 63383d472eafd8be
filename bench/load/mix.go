package load

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Query is one request of a mix.
type Query struct {
	Weight      int
	Name        string
	Target      string // path and query string
	Status      int    // what must be answered
	Conditional bool   // asked with the ETag of its own answer; then Status is 304
	Anonymous   bool   // asked without the application identifier
	Bounds      []Bound
}

// ReadMix reads a mix: a line a query, with weight, name, path and query string, and what else there is to say: status=N,
// conditional, anonymous, bounds. Empty lines and those that begin with # do not count.
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
			return nil, fmt.Errorf("mix line %d: weight %q is no number from 0 up", n, fields[0])
		}
		q := Query{Weight: weight, Name: fields[1], Target: fields[2], Status: 200}
		if !strings.HasPrefix(q.Target, "/") {
			return nil, fmt.Errorf("mix line %d: path %q does not begin with /", n, q.Target)
		}
		if names[q.Name] {
			return nil, fmt.Errorf("mix line %d: a second query %q", n, q.Name)
		}
		names[q.Name] = true
		for _, word := range fields[3:] {
			switch status, is := strings.CutPrefix(word, "status="); {
			case is:
				if q.Status, err = strconv.Atoi(status); err != nil {
					return nil, fmt.Errorf("mix line %d: status %q is no number", n, status)
				}
			case word == "conditional":
				q.Conditional, q.Status = true, 304
			case word == "anonymous":
				q.Anonymous = true
			default:
				bound, is, err := readBound(word)
				if err != nil {
					return nil, fmt.Errorf("mix line %d: %w", n, err)
				}
				if !is {
					return nil, fmt.Errorf("mix line %d: unknown word %q", n, word)
				}
				q.Bounds = append(q.Bounds, bound)
			}
		}
		mix = append(mix, q)
	}
	if len(mix) == 0 && scanner.Err() == nil {
		return nil, fmt.Errorf("mix: no queries")
	}
	return mix, scanner.Err()
}
