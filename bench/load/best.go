package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Wanted are the target multiples of a comparison with peers.
type Wanted struct{ CPU, Rate, CompressedRate float64 }

// Standing compares the first server on a query with the best of its peers: the one with the least
// CPU per answer, and the one with the highest rate. Its plain and its compressed answers are both
// compared with the peers' uncompressed ones.
type Standing struct {
	Query                 string
	Rows                  int
	LeastCPU, HighestRate string
	PeerCPU, PeerRate     float64
	CPU, CompressedCPU    Ratio // the peer's CPU divided by ours
	Rate, CompressedRate  Ratio // our rate divided by the peer's
}

// Standings finds the best peer of each query. ours and compressed are the names of the servers
// that are not peers; the second may be missing.
func Standings(cells []Cell, ours, compressed string) []Standing {
	var all []Standing
	for i := range cells {
		own := &cells[i]
		if own.Server != ours {
			continue
		}
		var peers []*Cell
		zipped := &Cell{}
		for k := range cells {
			switch c := &cells[k]; {
			case c.Query != own.Query || c.Encoding != own.Encoding || k == i:
			case c.Server == compressed:
				zipped = c
			default:
				peers = append(peers, c)
			}
		}
		if len(peers) == 0 {
			continue
		}
		cheapest := slices.MinFunc(peers, func(a, b *Cell) int { return cmp.Compare(a.CPUMicros, b.CPUMicros) })
		fast := slices.MaxFunc(peers, func(a, b *Cell) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
		all = append(all, Standing{
			Query: own.Query, Rows: own.Rows, LeastCPU: cheapest.Server, HighestRate: fast.Server,
			PeerCPU: cheapest.CPUMicros, PeerRate: fast.PerSecond,
			CPU: ratio(cheapest.Costs, own.Costs), CompressedCPU: ratio(cheapest.Costs, zipped.Costs),
			Rate: ratio(own.Rates, fast.Rates), CompressedRate: ratio(zipped.Rates, fast.Rates),
		})
	}
	return all
}

// Missed lists the targets that a standing misses.
func (s *Standing) Missed(w Wanted) []string {
	var all []string
	for _, figure := range []struct {
		name string
		got  Ratio
		want float64
	}{
		{"CPU", s.CPU, w.CPU},
		{"CPU gzip", s.CompressedCPU, w.CPU},
		{"rate", s.Rate, w.Rate},
		{"rate gzip", s.CompressedRate, w.CompressedRate},
	} {
		if figure.got.Median != 0 && figure.got.Median < figure.want {
			all = append(all, fmt.Sprintf("%s %.3g of %g", figure.name, figure.got.Median, figure.want))
		}
	}
	return all
}

func writeStandings(b *strings.Builder, all []Standing, w Wanted) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Against the best peer of each query\n\nTargets: CPU %g times, rate %g times, compressed "+
		"%g times.\n\n"+
		"| query | rows | least CPU | its CPU, µs | ÷ ours | ÷ ours, gzip | most answers | its rate/s | ours ÷ it "+
		"| ours, gzip ÷ it | missed |\n"+
		"|---|--:|---|--:|--:|--:|---|--:|--:|--:|---|\n", w.CPU, w.Rate, w.CompressedRate)
	for _, s := range all {
		missed := strings.Join(s.Missed(w), ", ")
		if missed == "" {
			missed = "nothing"
		}
		fmt.Fprintf(b, "| %s | %d | %s | %.0f | %v | %v | %s | %.0f | %v | %v | %s |\n", s.Query, s.Rows, s.LeastCPU,
			s.PeerCPU, s.CPU, s.CompressedCPU,
			s.HighestRate, s.PeerRate, s.Rate, s.CompressedRate, missed)
	}
}

// questionPlots are plots by question: CPU per answer, and answers per second. Each server is a
// curve.
func questionPlots(cells []Cell) map[string]*Plot {
	if len(cells) == 0 {
		return nil
	}
	var names []string
	cost := &Plot{Title: "CPU of an answer, by question", Y: "CPU µs"}
	rate := &Plot{Title: "Answers a second, by question", Y: "requests a second"}
	for _, c := range cells {
		at := slices.Index(names, c.Query)
		if at < 0 {
			at, names = len(names), append(names, c.Query)
		}
		x := powerOfTen(at)
		cost.add(c.Server, x, c.CPUMicros)
		rate.add(c.Server, x, c.PerSecond)
	}
	label := func(x float64) string {
		for i, name := range names {
			if powerOfTen(i) == x {
				return name
			}
		}
		return ""
	}
	for _, p := range []*Plot{cost, rate} {
		p.XLabel = label
		for i := range names {
			p.XTicks = append(p.XTicks, powerOfTen(i))
		}
	}
	return map[string]*Plot{"cost-by-question": cost, "rate-by-question": rate}
}

// powerOfTen spaces questions evenly on a logarithmic axis.
func powerOfTen(n int) float64 {
	x := 1.0
	for range n {
		x *= 10
	}
	return x
}
