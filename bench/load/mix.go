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
	Status      int    // required
	Conditional bool   // sent with the ETag of its own answer; then Status is 304
	Anonymous   bool   // sent without the application identifier
	Bounds      []Bound
}

// ReadMix reads a mix. Each line is a query: weight, name, path with query string, and optionally
// status=N, conditional, anonymous and bounds. Empty lines and lines that start with # are ignored.
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
			switch status, is := strings.CutPrefix(word, "status="); {
			case is:
				if q.Status, err = strconv.Atoi(status); err != nil {
					return nil, fmt.Errorf("mix line %d: status %q is not a number", n, status)
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
