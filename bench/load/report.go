package load

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Report holds all results of a run.
type Report struct {
	Date        string
	Commit      string
	Machine     Machine
	Note        string // data, commands, remarks
	Connections int
	Rounds      int
	Burst       time.Duration

	Starts  []StartTime    `json:",omitempty"`
	Memory  []Footprint    `json:",omitempty"`
	Targets []Verdict      `json:",omitempty"`
	Cells   []Cell         `json:",omitempty"`
	Closed  []LoadPoint    `json:",omitempty"` // the whole mix, by connections
	Open    []LoadPoint    `json:",omitempty"` // the whole mix, by rate
	ByRows  []RowsPoint    `json:",omitempty"`
	Beside  []BesideResult `json:",omitempty"`
	Faults  []Faults       `json:",omitempty"` // of the server as configured
	Cache   CacheUse       `json:",omitzero"`

	Standings []Standing `json:",omitempty"` // the first server and its peers
	Wanted    Wanted     `json:",omitzero"`
	Recorded  []Recorded `json:",omitempty"` // the server and recorded figures of another program

	Pictures []string `json:",omitempty"` // files in the directory of the report
}

// Machine describes the machine of a run.
type Machine struct {
	CPU, Kernel, Go string
	Cores           int
	LoadBefore      string // load average before the run
}

// StartTime is the time from a server's start to its first answer with rows.
type StartTime struct {
	Server            string
	Median, Low, High time.Duration
}

// Footprint is the memory of a server with a number of rows.
type Footprint struct {
	Server                 string
	Rows                   int
	Resident, PeakResident int64 // after the start; at the end of the run
}

// LoadPoint is the result of the whole mix over a number of connections or at a rate.
type LoadPoint struct {
	Server, Encoding         string
	Connections              int
	Asked                    float64 // requests due per second; 0: closed loop
	PerSecond                float64
	CPUMicros                float64
	MegabytesPerSecond       float64
	P50, P90, P99, P999, Max time.Duration
	Wrong, Failed            int
	Percentiles              []Percentile `json:",omitempty"`
}

// Faults are the page faults that an answer cost.
type Faults struct {
	Query, Encoding string
	Sent            int64 // bytes of the body
	// Of an answer, where every page was requested once, and where each was requested twice;
	// negative: not measured.
	Once, Twice float64
}

// pages is the number of pages of memory that the body fills.
func (f *Faults) pages() float64 { return float64(f.Sent) / 4096 }

// CacheUse is what the cache of the server as configured counted.
type CacheUse struct{ Hits, Misses float64 }

// Percentile is a point of a latency curve.
type Percentile struct {
	Part    float64
	Latency time.Duration
}

// RowsPoint is the cost of an answer with a number of rows.
type RowsPoint struct {
	Server, Encoding string
	Rows             int
	CPUMicros        float64
	P50              time.Duration
}

// Point converts an outcome to a load point.
func Point(server, encoding string, connections int, rate float64, o *Outcome) LoadPoint {
	p := LoadPoint{
		Server: server, Encoding: encoding, Connections: connections, Asked: rate, PerSecond: o.PerSecond(),
		CPUMicros:          o.CPUPerRequest(),
		MegabytesPerSecond: float64(o.Bytes) / 1e6 / o.Elapsed.Seconds(), P50: o.Quantile(0.5), P90: o.Quantile(0.9),
		P99: o.Quantile(0.99), P999: o.Quantile(0.999), Max: o.Slowest, Wrong: o.Wrong, Failed: o.Failed,
	}
	for _, part := range []float64{0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1} {
		p.Percentiles = append(p.Percentiles, Percentile{part, o.Quantile(part)})
	}
	return p
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	m := Machine{Go: runtime.Version(), Cores: runtime.NumCPU(), CPU: "unknown", Kernel: "unknown"}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		cores := 0 // all of the machine: runtime.NumCPU counts only those that this process may use
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			switch strings.TrimSpace(name) {
			case "processor":
				cores++
			case "model name":
				m.CPU = strings.TrimSpace(value)
			}
		}
		m.Cores = max(cores, m.Cores)
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.LoadBefore = strings.Join(strings.Fields(string(text))[:3], " ")
	}
	return m
}

// WriteJSON writes the report as JSON.
func (r *Report) WriteJSON(w io.Writer) error { return writeJSON(w, r) }

func writeJSON(w io.Writer, report any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(report)
}

// WriteMarkdown writes the report as Markdown.
func (r *Report) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "# Measured %s at %s\n\n%s\n\n", r.Date, r.Commit, r.Note)
	fmt.Fprintf(b, "%s, %d cores, Linux %s, %s; load average before the run %s. %d rounds of %v bursts",
		r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel,
		r.Machine.Go, r.Machine.LoadBefore, r.Rounds, r.Burst)
	if r.Connections > 0 {
		fmt.Fprintf(b, " in turn, %d connections", r.Connections)
	}
	b.WriteString("; CPU is user and system time of the server's processes.")
	if len(r.Cells) > 0 {
		b.WriteString(" Ratios divide the first server's figure by the named one's in the same round: median " +
			"(lowest-highest).")
	}
	b.WriteString("\n")
	for _, picture := range r.Pictures {
		fmt.Fprintf(b, "\n![%s](%s)\n", picture, picture)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return r.WriteTables(w)
}

// WriteTables writes the tables of the report that have rows.
func (r *Report) WriteTables(w io.Writer) error {
	b := &strings.Builder{}
	if len(r.Starts) > 0 {
		b.WriteString("\n## From start to first answer\n\n| server | median | lowest-highest |\n|---|--:|--:|\n")
		for _, s := range r.Starts {
			fmt.Fprintf(b, "| %s | %v | %v-%v |\n", s.Server, short(s.Median), short(s.Low), short(s.High))
		}
	}
	if len(r.Memory) > 0 {
		b.WriteString("\n## Memory\n\n| server | rows | after start, MB | peak, MB | peak, bytes a row " +
			"|\n|---|--:|--:|--:|--:|\n")
		for _, m := range r.Memory {
			rows, each := "unknown", ""
			if m.Rows > 0 {
				rows, each = strconv.Itoa(m.Rows), fmt.Sprintf("%.1f", float64(m.PeakResident)/float64(m.Rows))
			}
			fmt.Fprintf(b, "| %s | %s | %.0f | %.0f | %s |\n", m.Server, rows, float64(m.Resident)/1e6,
				float64(m.PeakResident)/1e6, each)
		}
	}
	writeSummary(b, r.Targets)
	writeVerdicts(b, r.Targets)
	writeStandings(b, r.Standings, r.Wanted)
	writeRecorded(b, r.Recorded)
	if len(r.Cells) > 0 {
		b.WriteString("\n## Query by query\n\n| query | rows | coding | server | sent, bytes | requests/s | CPU, " +
			"µs | p50 | p99 | CPU ratio | rate ratio | faults |\n" +
			"|---|--:|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
		for _, c := range r.Cells {
			fmt.Fprintf(b, "| %s | %d | %s | %s | %d | %.0f | %.1f | %v | %v | %v | %v | %.1f |\n", c.Query, c.Rows,
				c.Encoding, c.Server, c.SentBytes, c.PerSecond,
				c.CPUMicros, short(c.P50), short(c.P99), c.CPURatio, c.RateRatio, c.Faults)
		}
	}
	points(b, "The whole mix, closed loop", r.Closed)
	points(b, "The whole mix, open loop", r.Open)
	writeBeside(b, r.Beside)
	writeFaults(b, r.Faults, r.Cache)
	if len(r.ByRows) > 0 {
		b.WriteString("\n## Cost by rows\n\n| server | coding | rows | CPU, µs | p50 |\n|---|---|--:|--:|--:|\n")
		for _, p := range r.ByRows {
			fmt.Fprintf(b, "| %s | %s | %d | %.1f | %v |\n", p.Server, p.Encoding, p.Rows, p.CPUMicros, short(p.P50))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func points(b *strings.Builder, title string, all []LoadPoint) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n| server | coding | connections | due/s | answered/s | MB/s | CPU, µs | p50 | p90 "+
		"| p99 | p99.9 | max | wrong | failed |\n"+
		"|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n", title)
	for _, p := range all {
		due := "closed loop"
		if p.Asked > 0 {
			due = fmt.Sprintf("%.0f", p.Asked)
		}
		fmt.Fprintf(b, "| %s | %s | %d | %s | %.0f | %.1f | %.1f | %v | %v | %v | %v | %v | %d | %d |\n", p.Server,
			p.Encoding, p.Connections, due, p.PerSecond,
			p.MegabytesPerSecond, p.CPUMicros, short(p.P50), short(p.P90), short(p.P99), short(p.P999), short(p.Max),
			p.Wrong, p.Failed)
	}
}

// short rounds a duration to three digits.
func short(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

func writeFaults(b *strings.Builder, all []Faults, cache CacheUse) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Page faults as configured\n\nMinor page faults of the server for an answer. New pages: no " +
		"page was requested before. Twice: every page is requested twice, so that the cache takes it the " +
		"second time, and never gives it out.")
	if cache != (CacheUse{}) {
		fmt.Fprintf(b, " In the whole run the cache had %.0f requests and answered %.0f of them.",
			cache.Hits+cache.Misses, cache.Hits)
	}
	b.WriteString("\n\n| query | coding | bytes sent | pages of memory | faults, new pages | faults, twice |\n" +
		"|---|---|--:|--:|--:|--:|\n")
	for _, f := range all {
		twice := ""
		if f.Twice >= 0 {
			twice = fmt.Sprintf("%.2f", f.Twice)
		}
		fmt.Fprintf(b, "| %s | %s | %d | %.0f | %.2f | %s |\n", f.Query, f.Encoding, f.Sent, f.pages(), f.Once, twice)
	}
}

// FaultsVerdict compares the worst page faults with the pages of memory that the bodies fill.
func FaultsVerdict(all []Faults, most float64) (v Verdict, ok bool) {
	v = Verdict{Control: "pages of memory that its body fills", Most: most}
	for _, f := range all {
		if r := max(f.Once, f.Twice) / f.pages(); r > v.Got.Median {
			v.Query, v.Encoding, v.Got = f.Query+"-faults", f.Encoding, Ratio{r, r, r}
			v.Work = fmt.Sprintf("page faults as configured, the worst: %s, %s", f.Query, f.Encoding)
		}
	}
	return v, v.Work != ""
}
