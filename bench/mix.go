package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// query is one request of a mix.
type query struct {
	weight      int
	name        string
	target      string // path and query string
	status      int    // required
	conditional bool   // sent with the ETag of its own answer; then the status is 304
	anonymous   bool   // sent without the application identifier
}

// readMix reads a mix. Each line is a query: weight, name, path with query string, and optionally
// status=N, conditional, anonymous and bounds, which compare.py reads. Empty lines and lines that
// start with # are ignored.
func readMix(text string) (mix []query, err error) {
	for i, line := range strings.Split(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 3 || !strings.HasPrefix(fields[2], "/") {
			return nil, fmt.Errorf("line %d: want a weight, a name and a path that begins with /", i+1)
		}
		q := query{name: fields[1], target: fields[2], status: 200}
		if q.weight, err = strconv.Atoi(fields[0]); err != nil || q.weight < 0 {
			return nil, fmt.Errorf("line %d: weight %q: want a number of at least 0", i+1, fields[0])
		}
		for _, word := range fields[3:] {
			status, isStatus := strings.CutPrefix(word, "status=")
			switch {
			case isStatus:
				if q.status, err = strconv.Atoi(status); err != nil {
					return nil, fmt.Errorf("line %d: status %q: want a number", i+1, status)
				}
			case word == "conditional":
				q.conditional, q.status = true, 304
			case word == "anonymous":
				q.anonymous = true
			case !strings.Contains(word, "<="):
				return nil, fmt.Errorf("line %d: unknown word %q", i+1, word)
			}
		}
		mix = append(mix, q)
	}
	if len(mix) == 0 {
		return nil, errors.New("the mix has no query")
	}
	return mix, nil
}
