package load

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Bound is an upper limit on the cost of an answer, as a ratio. In a mix it follows the query as
// CODING:MEASURE<=MOST. The measures are
//
//	cpu/SERVER    our CPU per request divided by the named server's in the same round
//	cpu/CODING    the same divided by ours for the answer in another coding
//	bytes/gzipN   length of the body sent, divided by that of the plain body at gzip level N
type Bound struct {
	Encoding string
	Other    string // the server or the coding that the CPU is divided by; empty for bytes
	Level    int    // of gzip, for bytes
	Most     float64
}

// Verdict is a target and what was measured: median, minimum and maximum of the rounds.
type Verdict struct {
	Query, Encoding string
	Work, Control   string // what is divided by what
	Micros          float64
	Most            float64
	Got             Ratio
}

// Met reports whether a median is within the target. Without a ratio, something was not measured.
func (v *Verdict) Met() bool { return v.Got.Median > 0 && v.Got.Median <= v.Most }

var codings = []string{Identity, Gzip, Zstd}

func readBound(word string) (b Bound, err error) {
	what, most, is := strings.Cut(word, "<=")
	if !is {
		return b, fmt.Errorf("unknown word %q", word)
	}
	coding, measure, _ := strings.Cut(what, ":")
	if b.Encoding = coding; !slices.Contains(codings, coding) {
		return b, fmt.Errorf("bound %q: %q is not a coding", word, coding)
	}
	if b.Most, err = strconv.ParseFloat(most, 64); err != nil || b.Most <= 0 {
		return b, fmt.Errorf("bound %q: %q is not a number above 0", word, most)
	}
	if level, is := strings.CutPrefix(measure, "bytes/gzip"); is {
		b.Level, _ = strconv.Atoi(level) // 0 is no level
	} else {
		b.Other, _ = strings.CutPrefix(measure, "cpu/")
	}
	if b.Other == measure || b.Other == "" && (b.Level < gzip.BestSpeed || b.Level > gzip.BestCompression) {
		return b, fmt.Errorf("bound %q: unknown measure %q", word, measure)
	}
	return b, nil
}

func (b *Bound) control() string {
	if b.Other == "" {
		return fmt.Sprintf("length at gzip level %d", b.Level)
	}
	if text := controls[b.Other]; text != "" {
		return text
	}
	return b.Other
}

// controls describes the controls by the names that bounds have for them.
var controls = map[string]string{
	"nginx":  "nginx, the same bytes from a file",
	"whole":  "the same server, whole bodies by the library's gzip 1",
	"fixed":  "the same library, the same body from memory",
	Identity: "ours, plain",
	Gzip:     "ours, gzip",
	Zstd:     "ours, zstd",
}

// judge compares the cells of a query with its bounds. The first server's cells come first.
func judge(q Query, cells []Cell, plain []byte) ([]Verdict, error) {
	find := func(server, encoding string) *Cell {
		at := slices.IndexFunc(cells, func(c Cell) bool { return c.Server == server && c.Encoding == encoding })
		if at < 0 {
			return nil
		}
		return &cells[at]
	}
	var verdicts []Verdict
	for _, b := range q.Bounds {
		ours := find(cells[0].Server, b.Encoding)
		if ours == nil {
			continue // not a coding of this run
		}
		v := Verdict{
			Query: q.Name, Encoding: b.Encoding, Control: b.control(), Micros: ours.CPUMicros, Most: b.Most,
			Work: fmt.Sprintf("%s, %d rows, %s", q.Name, ours.Rows, b.Encoding),
		}
		if q.Conditional {
			v.Work = q.Name + ", 304"
		}
		if b.Other == "" {
			whole, err := gzipped(plain, b.Level)
			if err != nil {
				return verdicts, err
			}
			r := float64(ours.SentBytes) / float64(whole)
			v.Work, v.Got = v.Work+", bytes", Ratio{r, r, r}
			verdicts = append(verdicts, v)
			continue
		}
		control := find(b.Other, b.Encoding)
		if slices.Contains(codings, b.Other) {
			control = find(ours.Server, b.Other)
		}
		if control != nil { // else it is absent, or does not answer this query
			v.Got = ratio(ours.Costs, control.Costs)
			verdicts = append(verdicts, v)
		}
	}
	return verdicts, nil
}

// gzipped is the length of a body at a gzip level.
func gzipped(plain []byte, level int) (int, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return 0, err
	}
	_, err = z.Write(plain)
	err = errors.Join(err, z.Close())
	return b.Len(), err
}

func (r *Report) writeTargets(b *strings.Builder) {
	each := newTable("Targets", "The work divided by its control, in the same rounds: median (lowest-highest).",
		"work", "control", "target:", "measured:", "met")
	for _, v := range r.Targets {
		met := "**no**"
		if v.Met() {
			met = "yes"
		}
		each.add(v.Work, v.Control, v.Most, v.Got, met)
	}
	each.write(b)
}
