package threshold

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/api/contract"
	"hdqs/internal/nearest"
)

// Any is the bound that accepts every change.
var Any = math.Inf(1)

// Rules are the changes that are accepted.
type Rules struct {
	Most       float64 // per cent, where no exception is for it
	Noise      float64 // differences of sums of figures that are no change, if it is above the usual
	Exceptions []Exception
}

// Exception is another bound for a table or headline figure in a country. Empty is any.
type Exception struct {
	Name, Place string
	Most        float64   // per cent, or Any
	Until       time.Time // zero: for ever
}

// ParseBound parses a number of per cent, such as 50 or 50%, or "any".
func ParseBound(text string) (float64, error) {
	if text == "any" {
		return Any, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(n > 0) || n > 1e6 {
		return 0, fmt.Errorf("%q: want a number of per cent above 0, such as 50%%, or any", text)
	}
	return n, nil
}

// The bounds of a file of exceptions.
const (
	mostLine       = 1000
	mostExceptions = 10_000
)

// ParseExceptions parses a file of exceptions, one a line:
//
//	NAME COUNTRY BOUND [until YYYY-MM-DD]
//
// NAME is a table or a headline figure, COUNTRY a code; * is any. BOUND is as in ParseBound. Text
// after # is a comment. Of the lines for a change the last one counts.
func ParseExceptions(from io.Reader) (all []Exception, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, mostLine), mostLine)
	n := 0
	for ; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		e, err := parseException(fields)
		if err == nil && len(all) == mostExceptions {
			err = fmt.Errorf("more than %d exceptions", mostExceptions)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		all = append(all, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w, at most %d bytes", n+1, err, mostLine)
	}
	return all, nil
}

func parseException(fields []string) (e Exception, err error) {
	if len(fields) != 3 && (len(fields) != 5 || fields[3] != "until") {
		return e, fmt.Errorf("%q: want NAME COUNTRY BOUND, and perhaps until YYYY-MM-DD", strings.Join(fields, " "))
	}
	if fields[0] != "*" {
		e.Name = fields[0]
		if names := Names(); !slices.Contains(names, e.Name) {
			near := ""
			if meant := nearest.Of(e.Name, names); meant != "" {
				near = ": did you mean " + meant + "?"
			}
			return e, fmt.Errorf("no table or headline figure has the name %q%s", e.Name, near)
		}
	}
	if fields[1] != "*" {
		e.Place = fields[1]
		if e.Place != strings.ToUpper(e.Place) || len(e.Place) != 3 {
			return e, fmt.Errorf("country %q: want a code of three capital letters, or *", e.Place)
		}
	}
	if e.Most, err = ParseBound(fields[2]); err != nil {
		return e, err
	}
	if len(fields) == 5 {
		if e.Until, err = time.Parse(time.DateOnly, fields[4]); err != nil {
			return e, fmt.Errorf("until %q: want a day such as 2026-12-31", fields[4])
		}
		e.Until = e.Until.AddDate(0, 0, 1) // that day included
	}
	return e, nil
}

// Names are those of tables and headline figures.
func Names() (names []string) {
	for i := range contract.Endpoints {
		names = append(names, contract.Endpoints[i].Table)
	}
	return append(names, contract.HeadlineNames()...)
}

// most is the bound for a table or figure in a country at a time.
func (r *Rules) most(name, place string, at time.Time) float64 {
	for _, e := range slices.Backward(r.Exceptions) {
		if (e.Name == "" || e.Name == name) && (e.Place == "" || e.Place == place) &&
			(e.Until.IsZero() || at.Before(e.Until)) {
			return e.Most
		}
	}
	return r.Most
}
