package load

import (
	"bytes"
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
	Encoding, Measure string
	Most              float64
}

// Verdict is a target and what was measured: median, minimum and maximum of the rounds.
type Verdict struct {
	Query, Encoding string
	Work, Control   string // what is divided by what
	Micros          float64
	Most            float64
	Got             Ratio
	Configured      Ratio // with default flags; zero if that was not measured
}

// Met reports whether a median is within the target. Without a ratio, something was not measured.
func (v *Verdict) Met() bool {
	return within(v.Got, v.Most) && (v.Configured == Ratio{} || within(v.Configured, v.Most))
}

func within(r Ratio, most float64) bool { return r.Median > 0 && r.Median <= most }

const (
	perOther    = "cpu/"
	perGzip     = "bytes/gzip"
	boundIsMost = "<="
)

var codings = []string{Identity, Gzip, Zstd}

// readBound parses a bound. ok is false for a word of another kind.
func readBound(word string) (b Bound, ok bool, err error) {
	what, most, is := strings.Cut(word, boundIsMost)
	if !is {
		return b, false, nil
	}
	b.Encoding, b.Measure, _ = strings.Cut(what, ":")
	if !slices.Contains(codings, b.Encoding) {
		return b, true, fmt.Errorf("bound %q: %q is not a coding", word, b.Encoding)
	}
	if b.Most, err = strconv.ParseFloat(most, 64); err != nil || b.Most <= 0 {
		return b, true, fmt.Errorf("bound %q: %q is not a number above 0", word, most)
	}
	if _, isGzip := b.gzipLevel(); !isGzip && b.other() == "" {
		return b, true, fmt.Errorf("bound %q: unknown measure %q", word, b.Measure)
	}
	return b, true, nil
}

// other is the server or the coding that the CPU is divided by; empty for another measure.
func (b *Bound) other() string {
	name, is := strings.CutPrefix(b.Measure, perOther)
	if !is {
		return ""
	}
	return name
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

// control describes what a bound divides by.
func (b *Bound) control() string {
	name := b.other()
	if text := controls[name]; text != "" {
		return text
	}
	if level, ok := b.gzipLevel(); ok {
		return fmt.Sprintf("length at gzip level %d", level)
	}
	return name
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

// judge compares the cells of a query with its bounds.
func (s *Suite) judge(q Query, cells []Cell, plain []byte) ([]Verdict, error) {
	find := func(server, encoding string) *Cell {
		at := slices.IndexFunc(cells, func(c Cell) bool { return c.Server == server && c.Encoding == encoding })
		if at < 0 {
			return nil
		}
		return &cells[at]
	}
	var verdicts []Verdict
	for _, b := range q.Bounds {
		ours := find(s.Ours.Name, b.Encoding)
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
		if level, ok := b.gzipLevel(); ok {
			whole, err := gzipped(plain, level)
			if err != nil {
				return verdicts, err
			}
			r := float64(ours.SentBytes) / float64(whole)
			v.Work, v.Got = v.Work+", bytes", Ratio{r, r, r}
			verdicts = append(verdicts, v)
			continue
		}
		isCoding := slices.Contains(codings, b.other())
		divide := func(c *Cell) Ratio {
			if c == nil {
				return Ratio{}
			}
			control := find(b.other(), b.Encoding)
			if isCoding {
				control = find(c.Server, b.other())
			}
			if control == nil {
				return Ratio{}
			}
			return ratio(c.Costs, control.Costs)
		}
		if v.Got = divide(ours); v.Got == (Ratio{}) {
			continue // the control is absent, or does not answer this query
		}
		if s.Configured != nil {
			v.Configured = divide(find(s.Configured.Name, b.Encoding))
		}
		verdicts = append(verdicts, v)
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
	if _, err := z.Write(plain); err != nil {
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
	b.WriteString("\n## Targets\n\nThe work divided by its control, in the same rounds: median (lowest-highest). The " +
		"server as configured has its default flags, and no page comes from its cache.\n\n" +
		"| work | control | target | measured | as configured | met |\n|---|---|--:|--:|--:|---|\n")
	for _, v := range all {
		met := "**no**"
		if v.Met() {
			met = "yes"
		}
		fmt.Fprintf(b, "| %s | %s | %g | %v | %v | %s |\n", v.Work, v.Control, v.Most, v.Got, v.Configured, met)
	}
}
