package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Overload measures a server under more load than it can take. Its parts take turns within each
// round, and each is compared with the usual load just before and after it, because the speed of a
// machine changes within a round.
type Overload struct {
	Server      *Server
	Queries     []Query
	Encoding    string
	Connections int           // of the usual load, which should use the whole server
	Wide        int           // connections of the open loop: so many that a request rarely waits for one
	Idle        int           // idle connections beside the usual load
	Patience    time.Duration // of callers in the open loop
	Rounds      int
	Burst       time.Duration // length of each part; the two with Wide connections are overloadBursts times as long
	Progress    func(format string, args ...any)
}

// overloadFactor is the overload as a multiple of the usual load.
const overloadFactor = 3

// overloadBursts is how many times longer the parts with Wide connections last. The first tenth of
// a second of an overload has about one in forty of the answers of four seconds, and would
// determine their 99th percentile.
const overloadBursts = 3

// maxRecovery limits the wait for the server to return to its usual rate.
const maxRecovery = 20 * time.Second

// OverloadReport is the result of an Overload.
type OverloadReport struct {
	Date, Commit string
	Machine      Machine
	Note         string
	Encoding     string
	Queries      []string
	Connections  int
	Burst        time.Duration
	Parts        []OverloadPart

	Recoveries []time.Duration // from the end of the open loop to nine tenths of the usual rate
	IdleMemory int64           // bytes that all idle connections cost the server, in the worst round
}

// OverloadPart is a kind of load. Rate of good answers, CPU per good answer and p99 are divided by
// those of the usual load before and after it.
type OverloadPart struct {
	Name           string
	Rate, CPU, P99 Ratio
	Rounds         []LoadPoint
	Usual          [][2]LoadPoint // before and after each round

	run func(usual LoadPoint) (LoadPoint, error)
}

// Run runs all rounds.
func (v *Overload) Run() (*OverloadReport, error) {
	r := &OverloadReport{
		Encoding: v.Encoding, Connections: v.Connections, Burst: v.Burst, Machine: ThisMachine(),
	}
	for _, q := range v.Queries {
		r.Queries = append(r.Queries, q.Name)
	}
	r.Parts = v.parts(r)
	usual, err := v.usual() // the first is a warm-up
	for range v.Rounds {
		for i := range r.Parts {
			part := &r.Parts[i]
			before := usual
			if i == 0 && err == nil {
				before, err = v.usual()
			}
			if err != nil {
				return r, err
			}
			point, err1 := part.run(before)
			usual, err = v.usual()
			if err := errors.Join(err1, err); err != nil {
				return r, err
			}
			part.Rounds, part.Usual = append(part.Rounds, point), append(part.Usual, [2]LoadPoint{before, usual})
			v.Progress("%s: %.0f/s, p99 %v, %d refused, %d late, %d unsent; usual %.0f/s, p99 %v", part.Name,
				point.PerSecond, short(point.P99), point.Wrong, point.Late, point.Unsent, usual.PerSecond,
				short(usual.P99))
		}
	}
	for i := range r.Parts {
		part := &r.Parts[i]
		part.Rate = part.divide(func(p *LoadPoint) float64 { return p.PerSecond })
		part.CPU = part.divide(func(p *LoadPoint) float64 { return p.CPUMicros })
		part.P99 = part.divide(func(p *LoadPoint) float64 { return p.P99.Seconds() })
	}
	return r, nil
}

// parts are three times the connections, three times the rate, clients that retry at once, and the
// usual load beside idle connections.
func (v *Overload) parts(r *OverloadReport) []OverloadPart {
	return []OverloadPart{
		{
			Name: fmt.Sprintf("%d connections", overloadFactor*v.Connections),
			run:  func(LoadPoint) (LoadPoint, error) { return v.drive(overloadFactor*v.Connections, 0, v.Burst) },
		},
		{
			Name: fmt.Sprintf("%d times the usual rate due, %d connections, callers wait %v", overloadFactor, v.Wide,
				v.Patience),
			run: func(usual LoadPoint) (LoadPoint, error) {
				p, err := v.drive(v.Wide, overloadFactor*usual.PerSecond, overloadBursts*v.Burst)
				return p, errors.Join(err, v.recover(usual, r))
			},
		},
		{
			Name: fmt.Sprintf("%d connections that retry at once when refused", v.Wide),
			run:  func(LoadPoint) (LoadPoint, error) { return v.drive(v.Wide, 0, overloadBursts*v.Burst) },
		},
		{
			Name: fmt.Sprintf("usual, beside %d idle connections", v.Idle),
			run:  func(LoadPoint) (LoadPoint, error) { return v.besideIdle(r) },
		},
	}
}

func (v *Overload) usual() (LoadPoint, error) { return v.drive(v.Connections, 0, v.Burst) }

func (v *Overload) drive(connections int, rate float64, length time.Duration) (LoadPoint, error) {
	d := Drive{Queries: v.Queries, Encoding: v.Encoding, Connections: connections, Rate: rate, Duration: length}
	if rate > 0 {
		d.Patience = v.Patience
	}
	o, err := v.Server.Run(d)
	if err != nil {
		return LoadPoint{}, err
	}
	return Point(v.Server.Name, v.Encoding, connections, rate, o), nil
}

// recover applies the usual load in short pieces until one reaches nine tenths of the usual rate.
func (v *Overload) recover(usual LoadPoint, r *OverloadReport) error {
	for begun := time.Now(); ; {
		p, err := v.drive(v.Connections, 0, v.Burst/10)
		took := time.Since(begun)
		if err != nil || p.PerSecond >= 0.9*usual.PerSecond || took > maxRecovery {
			r.Recoveries = append(r.Recoveries, took)
			return err
		}
	}
}

// besideIdle applies the usual load while other connections, each used once, are idle.
func (v *Overload) besideIdle(r *OverloadReport) (LoadPoint, error) {
	before, err := v.Server.usage()
	if err != nil {
		return LoadPoint{}, err
	}
	for i := range v.Idle {
		conn, err := used(strings.TrimPrefix(v.Server.URL, "http://"))
		if err != nil {
			return LoadPoint{}, fmt.Errorf("load: idle connection %d of %d: %w", i+1, v.Idle, err)
		}
		defer conn.Close()
	}
	p, err := v.usual()
	after, err2 := v.Server.usage()
	r.IdleMemory = max(r.IdleMemory, after.Resident-before.Resident)
	return p, errors.Join(err, err2)
}

// used opens a connection and sends a request over it.
func used(address string) (net.Conn, error) {
	conn, err := dial(address)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(conn, "GET /favicon.ico HTTP/1.1\r\nHost: %s\r\n\r\n", address)
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
	}
	if err != nil {
		conn.Close()
	}
	return conn, err
}

// divide divides a figure of the rounds by that of the usual load before and after them.
func (p *OverloadPart) divide(figure func(*LoadPoint) float64) Ratio {
	var part, usual []float64
	for i := range p.Rounds {
		part = append(part, figure(&p.Rounds[i]))
		usual = append(usual, (figure(&p.Usual[i][0])+figure(&p.Usual[i][1]))/2)
	}
	return ratio(part, usual)
}

// WriteMarkdown writes the report as Markdown.
func (r *OverloadReport) WriteMarkdown(w io.Writer) error {
	b := &strings.Builder{}
	var seconds []float64
	for _, took := range r.Recoveries {
		seconds = append(seconds, took.Seconds())
	}
	fmt.Fprintf(b, "# Overload, measured %s at %s\n\n%s\n\n%s. Coding %s, queries %s. Usual load: %d connections "+
		"in a closed loop. Parts in turn, %v each and three times as long with the most connections; each is "+
		"divided by the usual load just before and after it: median (lowest-highest). Nine tenths of the usual rate "+
		"again after %v s. The idle connections cost %s MB of the server's memory.\n",
		r.Date, r.Commit, r.Note, r.Machine, r.Encoding, strings.Join(r.Queries, ", "), r.Connections, r.Burst,
		Spread(seconds), megabytes(r.IdleMemory))
	parts := newTable("Parts", "", "part", "good answers, of the usual rate:", "CPU per good answer, of the usual:",
		"p99, of the usual:")
	rounds := newTable("Rounds", "", "part", "due/s:", "good/s:", "CPU, µs:", "p50:", "p99:", "refused:", "late:",
		"unsent:", "usual/s:", "usual p99:")
	for _, part := range r.Parts {
		parts.add(part.Name, part.Rate, part.CPU, part.P99)
		for i, p := range part.Rounds {
			rounds.add(part.Name, p.Asked, p.PerSecond, p.CPUMicros, p.P50, p.P99, p.Wrong, p.Late, p.Unsent,
				part.Usual[i][0].PerSecond, part.Usual[i][0].P99)
		}
	}
	parts.write(b)
	rounds.write(b)
	_, err := io.WriteString(w, b.String())
	return err
}
