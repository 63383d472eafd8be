package load

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
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

	Resident, PeakResident int64 // memory of the server: after its start; at the end of the run

	Start   Ratio       // seconds from the server's start to its first answer with rows
	Targets []Verdict   `json:",omitempty"`
	Cells   []Cell      `json:",omitempty"`
	Loads   []LoadPoint `json:",omitempty"` // the whole mix
}

// Machine describes the machine of a run.
type Machine struct {
	CPU, Kernel, Go string
	Cores           int
	LoadBefore      string // load average before the run
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
	FirstWrong               string `json:",omitempty"`
}

// Point sends a drive to a server and returns what a report says of it.
func (s *Server) Point(d Drive) (LoadPoint, error) {
	o, err := s.Run(d)
	if err != nil {
		return LoadPoint{}, err
	}
	return LoadPoint{
		Server: s.Name, Encoding: d.Encoding, Connections: d.Connections, Asked: d.Rate, PerSecond: o.PerSecond(),
		CPUMicros: o.CPUPerRequest(), MegabytesPerSecond: float64(o.Bytes) / 1e6 / o.Elapsed.Seconds(),
		P50: o.Quantile(0.5), P90: o.Quantile(0.9), P99: o.Quantile(0.99), P999: o.Quantile(0.999), Max: o.Slowest,
		Wrong: o.Wrong, Failed: o.Failed, FirstWrong: o.FirstWrong,
	}, nil
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	m := Machine{Go: runtime.Version(), CPU: "unknown", Kernel: "unknown"}
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if all, err := fs.CPUInfo(); err == nil && len(all) > 0 {
			m.CPU, m.Cores = all[0].ModelName, len(all) // also those that this process may not use
		}
		if load, err := fs.LoadAvg(); err == nil {
			m.LoadBefore = fmt.Sprintf("%.2f %.2f %.2f", load.Load1, load.Load5, load.Load15)
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	return m
}

// Markdown is the report.
func (r *Report) Markdown() string {
	m := r.Machine
	return fmt.Sprintf("# Measured %s at %s\n\n%s\n\n%s, %d cores, Linux %s, %s; load average before the run %s. "+
		"%d rounds of %v bursts in turn, %d connections; CPU is user and system time of the server's processes. "+
		"Ratios divide the first server's figure by the named one's in the same round: median (lowest-highest). "+
		"The server's first answer came %v s after its start; its memory was %s MB then, and %s MB at most.\n",
		r.Date, r.Commit, r.Note, m.CPU, m.Cores, m.Kernel, m.Go, m.LoadBefore, r.Rounds, r.Burst,
		r.Connections, r.Start, megabytes(r.Resident), megabytes(r.PeakResident)) + r.Tables()
}

type table struct {
	head string
	rows []string
}

// newTable begins a table. Columns whose names end with a colon are aligned to the right.
func newTable(title, about string, columns ...string) *table {
	head, line := "|", "|"
	for _, c := range columns {
		name, isNumber := strings.CutSuffix(c, ":")
		head += " " + name + " |"
		if isNumber {
			line += "--:|"
		} else {
			line += "---|"
		}
	}
	if about != "" {
		about += "\n\n"
	}
	return &table{head: "\n## " + title + "\n\n" + about + head + "\n" + line + "\n"}
}

// add adds a row. Durations are rounded.
func (t *table) add(cells ...any) {
	row := "|"
	for _, c := range cells {
		switch v := c.(type) {
		case time.Duration:
			c = short(v)
		case float64:
			c = strconv.FormatFloat(v, 'g', 5, 64)
		}
		row += fmt.Sprintf(" %v |", c)
	}
	t.rows = append(t.rows, row+"\n")
}

func (t *table) write(b *strings.Builder) {
	if len(t.rows) > 0 {
		b.WriteString(t.head + strings.Join(t.rows, ""))
	}
}

// Tables are the tables of the report that have rows.
func (r *Report) Tables() string {
	b := &strings.Builder{}
	r.writeTargets(b)
	cells := newTable("Query by query", "", "query", "rows:", "coding", "server", "sent, bytes:", "requests/s:",
		"CPU, µs:", "p50:", "p99:", "CPU ratio:", "rate ratio:")
	for _, c := range r.Cells {
		cells.add(c.Query, c.Rows, c.Encoding, c.Server, c.SentBytes, c.PerSecond, c.CPUMicros, c.P50, c.P99,
			c.CPURatio, c.RateRatio)
	}
	cells.write(b)
	loads := newTable("The whole mix", "", "server", "coding", "connections:", "due/s:", "answered/s:", "MB/s:",
		"CPU, µs:", "p50:", "p90:", "p99:", "p99.9:", "max:", "wrong:", "failed:")
	for _, p := range r.Loads {
		loads.add(p.Server, p.Encoding, p.Connections, p.Asked, p.PerSecond, p.MegabytesPerSecond, p.CPUMicros, p.P50,
			p.P90, p.P99, p.P999, p.Max, p.Wrong, p.Failed)
	}
	loads.write(b)
	return b.String()
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f", float64(n)/1e6) }

// short rounds a duration to three digits.
func short(d time.Duration) time.Duration {
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}
