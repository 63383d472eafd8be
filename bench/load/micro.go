package load

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Micro is a line of the output of Go benchmarks.
type Micro struct {
	Name    string
	Metrics map[string]float64 // by unit
}

// ReadMicro reads what go test -bench prints. Lines of other kinds are ignored.
func ReadMicro(r io.Reader) ([]Micro, error) {
	var all []Micro
	scanner := bufio.NewScanner(r)
	for scanner.Scan() {
		fields := strings.Fields(scanner.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		m := Micro{Name: fields[0], Metrics: map[string]float64{}}
		if _, err := strconv.Atoi(fields[1]); err != nil || len(fields)%2 != 0 {
			return nil, fmt.Errorf("load: %q is not a result of a benchmark", scanner.Text())
		}
		for i := 2; i < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("load: %s: %q is not a number", m.Name, fields[i])
			}
			m.Metrics[fields[i+1]] = value
		}
		all = append(all, m)
	}
	return all, scanner.Err()
}

// The units of a benchmark that divides its work by a control in turns.
const (
	unitRatio, unitLow, unitHigh = "ratio", "ratio-low", "ratio-high"
	unitMicros, unitMost         = "µs", "target"
)

// Verdict converts a benchmark that has a target. ok is false for another one. Its name is
// Benchmark.../QUERY; control describes what it divides by, coding what it measures.
func (m *Micro) Verdict(coding, control string) (v Verdict, ok bool) {
	if m.Metrics[unitMost] == 0 {
		return v, false
	}
	_, name, _ := strings.Cut(m.Name, "/")
	if at := strings.LastIndexByte(name, '-'); at > 0 {
		if _, err := strconv.Atoi(name[at+1:]); err == nil {
			name = name[:at] // without the number of cores
		}
	}
	return Verdict{
		Query: name, Encoding: coding, Work: name + ", " + coding, Control: control, Micros: m.Metrics[unitMicros],
		Most: m.Metrics[unitMost], Got: Ratio{m.Metrics[unitRatio], m.Metrics[unitLow], m.Metrics[unitHigh]},
	}, true
}
