package load

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Recorded is a query with recorded figures of another program and measured ones of a server.
type Recorded struct {
	Query      Query
	Want       float64 // times the recorded rate
	TheirBytes int
	Agreed     // rows and bytes of the server's answer
	Points     []RecordedPoint
}

// RecordedPoint is the result of a query over a number of connections.
type RecordedPoint struct {
	Connections    int
	TheirRate      float64
	TheirP50       time.Duration
	Rate           Ratio // of the server: median, minimum and maximum of the rounds
	P50            time.Duration
	CPUMicros      float64
	MegabytesASec  float64
	CoresOfServers float64 // processors that the server used; the client used the rest
}

// Multiple is the server's rate divided by the recorded one.
func (p *RecordedPoint) Multiple() float64 { return p.Rate.Median / p.TheirRate }

// recordedConnections are the numbers of connections of the recorded figures.
var recordedConnections = []int{1, 8, 64}

// ReadRecorded reads lines of name, target multiple, bytes, then rate and median latency in
// milliseconds over 1, 8 and 64 connections, then path and attributes as in a mix. Empty lines and
// lines that start with # are ignored.
func ReadRecorded(r io.Reader) ([]Recorded, error) {
	var all []Recorded
	scanner := bufio.NewScanner(r)
	for n := 1; scanner.Scan(); n++ {
		fields := strings.Fields(scanner.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		figures := 2 + 2*len(recordedConnections)
		if len(fields) < 1+figures+1 {
			return nil, fmt.Errorf("recorded line %d: %d fields, want %d or more", n, len(fields), 1+figures+1)
		}
		var numbers []float64
		for _, text := range fields[1 : 1+figures] {
			f, err := strconv.ParseFloat(text, 64)
			if err != nil || f <= 0 {
				return nil, fmt.Errorf("recorded line %d: %q is not a number above 0", n, text)
			}
			numbers = append(numbers, f)
		}
		mix, err := ReadMix(strings.NewReader("1 " + fields[0] + " " + strings.Join(fields[1+figures:], " ")))
		if err != nil {
			return nil, fmt.Errorf("recorded line %d: %w", n, err)
		}
		q := Recorded{Query: mix[0], Want: numbers[0], TheirBytes: int(numbers[1])}
		for i, connections := range recordedConnections {
			q.Points = append(q.Points, RecordedPoint{
				Connections: connections, TheirRate: numbers[2+2*i],
				TheirP50: time.Duration(numbers[3+2*i] * float64(time.Millisecond)),
			})
		}
		all = append(all, q)
	}
	return all, scanner.Err()
}

// Measure sends the query to a server over the recorded numbers of connections, in bursts, and sets
// the results.
func (q *Recorded) Measure(s *Server, rounds int, burst time.Duration) error {
	var err error
	if q.Agreed, err = SameRows([]*Server{s}, q.Query, Identity); err != nil {
		return err
	}
	for i := range q.Points {
		p := &q.Points[i]
		d := Drive{Queries: []Query{q.Query}, Encoding: Identity, Connections: p.Connections, Duration: burst / 3}
		if _, err := s.Run(d); err != nil { // warm-up
			return err
		}
		d.Duration = burst
		var all []*Outcome
		sum := Outcome{Latency: newLatencies()}
		for range rounds {
			o, err := s.Run(d)
			if err != nil {
				return err
			}
			if o.Wrong+o.Failed > 0 {
				return fmt.Errorf("load: %s: %d wrong, %d failed over %d connections: %s", q.Query.Name, o.Wrong,
					o.Failed, p.Connections, o.FirstWrong)
			}
			all = append(all, o)
			sum.add(o)
			sum.Elapsed, sum.CPU = sum.Elapsed+o.Elapsed, sum.CPU+o.CPU
		}
		p.Rate = Spread(values(all, (*Outcome).PerSecond))
		p.P50, p.CPUMicros = sum.Quantile(0.5), sum.CPUPerRequest()
		p.MegabytesASec, p.CoresOfServers = float64(sum.Bytes)/1e6/sum.Elapsed.Seconds(), sum.CPU/sum.Elapsed.Seconds()
	}
	return nil
}

func writeRecorded(b *strings.Builder, all []Recorded) {
	if len(all) == 0 {
		return
	}
	b.WriteString("\n## Against recorded figures\n\nRate and median latency of theirs → ours (our CPU per request " +
		"in µs; cores that our server used; MB/s that the client read).\n\n" +
		"| query | target | rows | their bytes | our bytes |")
	for _, c := range recordedConnections {
		fmt.Fprintf(b, " %d connections | times |", c)
	}
	b.WriteString(" |\n|---|--:|--:|--:|--:|" + strings.Repeat("---|--:|", len(recordedConnections)) + "---|\n")
	for _, q := range all {
		fmt.Fprintf(b, "| %s | %g | %d | %d | %d |", q.Query.Name, q.Want, q.Rows, q.TheirBytes, q.Bytes)
		var missed []string
		for _, p := range q.Points {
			fmt.Fprintf(b, " %g/s, %v → %.0f/s, %v (%.1f µs; %.2f; %.0f) | %.3g |", p.TheirRate, p.TheirP50,
				p.Rate.Median, short(p.P50), p.CPUMicros, p.CoresOfServers,
				p.MegabytesASec, p.Multiple())
			if p.Multiple() < q.Want {
				missed = append(missed, strconv.Itoa(p.Connections))
			}
		}
		if len(missed) == 0 {
			b.WriteString(" met |\n")
			continue
		}
		fmt.Fprintf(b, " missed over %s |\n", strings.Join(missed, ", "))
	}
}
