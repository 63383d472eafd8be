package load

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Bound is an upper limit on the cost of an answer. In a mix it follows the query as
// CODING:MEASURE<=MOST. The measures are
//
//	cpu           the first server's CPU per request, in microseconds
//	cpu/SERVER    the same divided by the named server's in the same round
//	bytes/gzipN   length of the body sent, divided by that of the plain body at gzip level N
type Bound struct {
	Encoding, Measure string
	Most              float64
}

// Verdict is a bound and the measured median, minimum and maximum of the rounds.
type Verdict struct {
	Query string
	Bound
	Got Ratio
}

// Met reports whether the median is within the bound.
func (v *Verdict) Met() bool {
	// Without a ratio, one of the two servers used too little CPU to be measured.
	unknown := v.Got == Ratio{} && strings.HasPrefix(v.Measure, perServer)
	return !unknown && v.Got.Median <= v.Most
}

const (
	measureCPU  = "cpu"
	perServer   = "cpu/"
	perGzip     = "bytes/gzip"
	boundIsMost = "<="
)

// readBound parses a bound. ok is false for a word of another kind.
func readBound(word string) (b Bound, ok bool, err error) {
	what, most, is := strings.Cut(word, boundIsMost)
	if !is {
		return b, false, nil
	}
	b.Encoding, b.Measure, _ = strings.Cut(what, ":")
	if !slices.Contains([]string{Identity, Gzip, Zstd}, b.Encoding) {
		return b, true, fmt.Errorf("bound %q: %q is not a coding", word, b.Encoding)
	}
	if b.Most, err = strconv.ParseFloat(most, 64); err != nil || b.Most <= 0 {
		return b, true, fmt.Errorf("bound %q: %q is not a number above 0", word, most)
	}
	if _, isGzip := b.gzipLevel(); b.Measure != measureCPU && !isGzip &&
		(!strings.HasPrefix(b.Measure, perServer) || b.Measure == perServer) {
		return b, true, fmt.Errorf("bound %q: unknown measure %q", word, b.Measure)
	}
	return b, true, nil
}

// gzipLevel is the level of a bound on bytes.
func (b *Bound) gzipLevel() (level int, ok bool) {
	text, ok := strings.CutPrefix(b.Measure, perGzip)
	if !ok {
		return 0, false
	}
	level, err := strconv.Atoi(text)
	return level, err == nil && gzip.BestSpeed <= level && level <= gzip.BestCompression
}

// judge compares the cells of a query in one coding with the query's bounds. The first cell is the
// first server's.
func (c *Comparison) judge(q Query, encoding string, cells []Cell, first []*Outcome) ([]Verdict, error) {
	var verdicts []Verdict
	for _, b := range q.Bounds {
		if b.Encoding != encoding {
			continue
		}
		v := Verdict{Query: q.Name, Bound: b}
		if level, ok := b.gzipLevel(); ok {
			whole, err := c.gzipped(q, level)
			if err != nil {
				return verdicts, err
			}
			r := float64(cells[0].SentBytes) / float64(whole)
			v.Got = Ratio{r, r, r}
		} else if name, ok := strings.CutPrefix(b.Measure, perServer); ok {
			i := slices.IndexFunc(cells, func(cell Cell) bool { return cell.Server == name })
			if i < 1 {
				continue // that server is absent, or does not answer this query
			}
			v.Got = cells[i].CPURatio
		} else {
			all := values(first, (*Outcome).CPUPerRequest)
			v.Got = Ratio{median(all), slices.Min(all), slices.Max(all)}
		}
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// gzipped is the length of the first server's plain body at a gzip level.
func (c *Comparison) gzipped(q Query, level int) (int, error) {
	a, err := c.Servers[0].fetch(q, Identity)
	if err != nil {
		return 0, err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return 0, err
	}
	if _, err := z.Write(a.body); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return b.Len(), nil
}

func writeVerdicts(b *strings.Builder, all []Verdict) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Targets\n\n| query | coding | measure | at most | measured | |\n|---|---|---|--:|--:|---|\n")
	for _, v := range all {
		met := "missed"
		if v.Met() {
			met = "met"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %g | %v | %s |\n", v.Query, v.Encoding, v.Measure, v.Most, v.Got, met)
	}
}
