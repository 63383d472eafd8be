package encode

import (
	"bufio"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestNegotiate reads testdata/accept_encoding.txt.
func TestNegotiate(t *testing.T) {
	f, err := os.Open("testdata/accept_encoding.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := 0
	for line, n := bufio.NewScanner(f), 1; line.Scan(); n++ {
		text := line.Text()
		if text == "" || text[0] == '#' {
			continue
		}
		end := strings.LastIndexByte(text, '"')
		header, want := text[1:end], strings.TrimSpace(text[end+1:])
		cases++
		if got := named(Negotiate(header)); got != want {
			t.Errorf("accept_encoding.txt:%d: %q: got %s, want %s", n, header, got, want)
		}
		if got := named(negotiateSlow(header)); got != want {
			t.Errorf("accept_encoding.txt:%d: %q: slow twin got %s, want %s", n, header, got, want)
		}
	}
	if cases < 60 {
		t.Errorf("%d cases, want at least 60", cases)
	}
}

// TestNegotiateAgainstTwin makes fields out of the grammar's pieces and of pieces next to it.
func TestNegotiateAgainstTwin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	pieces := []string{
		"gzip", "zstd", "identity", "*", "br", "x-gzip", "GZIP", ",", ", ", " ,", ";", ";q=", "; q=", "q", "=", "0", "1", "0.5", "0.001", "1.000",
		"0.0", ".", " ", "\t", "\xff", "é",
	}
	for range 200_000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		compareNegotiate(t, b.String())
	}
}

// FuzzNegotiate promises that any field gives what the slow twin gives.
func FuzzNegotiate(f *testing.F) {
	for _, seed := range []string{"", "gzip", "*;q=0.1, zstd;q=0", "identity;q=0", "gzip;q=1.0001,,;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) { compareNegotiate(t, field) })
}

func compareNegotiate(t *testing.T, field string) {
	t.Helper()
	got, want := named(Negotiate(field)), named(negotiateSlow(field))
	if got != want {
		t.Fatalf("%q: got %s, want %s", field, got, want)
	}
	if RefusesIdentity(field) != (slowWeights(field)["identity"] == 0) {
		t.Fatalf("%q: RefusesIdentity = %v", field, RefusesIdentity(field))
	}
}

func named(c Coding, ok bool) string {
	if !ok {
		return "406"
	}
	return c.String()
}

var memberForm = regexp.MustCompile(`^[ \t]*([^; \t](?:[^;]*[^; \t])?)[ \t]*(?:;[ \t]*(?:[qQ][ \t]*=[ \t]*(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)[ \t]*)?)?$`)

// slowWeights is the field read with a regular expression, floats and a map; identity stands at -1 when nothing is said of it.
func slowWeights(field string) map[string]float64 {
	said := map[string]float64{}
	for _, member := range strings.Split(field, ",") {
		m := memberForm.FindStringSubmatch(member)
		if m == nil {
			continue
		}
		name := strings.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}, m[1])
		if name == "x-gzip" {
			name = "gzip"
		}
		q := 1.0
		if m[2] != "" {
			q, _ = strconv.ParseFloat(m[2], 64)
		}
		if old, twice := said[name]; !twice || q < old {
			said[name] = q
		}
	}
	w := map[string]float64{"identity": -1, "gzip": 0, "zstd": 0}
	for name := range w {
		if q, ok := said[name]; ok {
			w[name] = q
		} else if q, ok := said["*"]; ok {
			w[name] = q
		}
	}
	return w
}

func negotiateSlow(field string) (Coding, bool) {
	w := slowWeights(field)
	switch {
	case w["zstd"] > 0 && w["zstd"] >= w["gzip"] && w["zstd"] >= w["identity"]:
		return Zstd, true
	case w["gzip"] > 0 && w["gzip"] >= w["identity"]:
		return Gzip, true
	}
	return Identity, w["identity"] != 0
}

func TestNegotiateAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Negotiate("br;q=1.0, GZIP;q=0.8, *;q=0.1") }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkNegotiate(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if c, ok := Negotiate("gzip, deflate, br, zstd"); c != Zstd || !ok {
			b.Fatal(c, ok)
		}
	}
}
