package load

import (
	"io"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// ReadMicro reads what go test -bench prints, and returns verdicts on the benchmarks that have a
// target and divide their work by a control in turns. control describes what they divide by, coding
// what they measure. Benchmarks are named Benchmark.../QUERY.
func ReadMicro(r io.Reader, coding, control string) (all []Verdict, err error) {
	lines := benchfmt.NewReader(r, "benchmarks")
	for lines.Scan() {
		result, ok := lines.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		figure := func(unit string) float64 {
			value, _ := result.Value(unit)
			return value
		}
		most := figure("target")
		if most == 0 {
			continue
		}
		_, name, _ := strings.Cut(string(result.Name), "/")
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			if _, err := strconv.Atoi(name[at+1:]); err == nil {
				name = name[:at] // without the number of cores
			}
		}
		all = append(all, Verdict{
			Query: name, Encoding: coding, Work: name + ", " + coding, Control: control, Micros: figure("µs"),
			Most: most, Got: Ratio{figure("ratio"), figure("ratio-low"), figure("ratio-high")},
		})
	}
	return all, lines.Err()
}
