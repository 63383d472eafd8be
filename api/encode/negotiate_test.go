//go:build !race

package encode

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestNegotiate checks the cases of testdata/accept_encoding.txt.
func TestNegotiate(t *testing.T) {
	t.Parallel()
	cases := testkit.Cases(t, "testdata/accept_encoding.txt", "\"", 2)
	for _, c := range cases {
		end := strings.LastIndexByte(c[1], '"')
		header, want := c[1][:end], strings.TrimSpace(c[1][end+1:])
		if got := named(Negotiate(header)); got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
		if got := named(negotiateSlow(header)); got != want {
			t.Errorf("%q: slow twin got %s, want %s", header, got, want)
		}
	}
	if len(cases) < 60 {
		t.Errorf("%d cases, want at least 60", len(cases))
	}
}

// TestNegotiateAgainstTwin combines tokens of the grammar with others.
func TestNegotiateAgainstTwin(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	pieces := []string{
		"gzip", "zstd", "identity", "*", "br", "x-gzip", "GZIP", ",", ", ", " ,", ";", ";q=", "; q=", "q", "=",
		"0", "1", "0.5", "0.001", "1.000", "0.0", ".", " ", "\t", "\xff", "é",
	}
	fields := 200_000
	if testing.Short() {
		fields = 20_000
	}
	for range fields {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		compareNegotiate(t, b.String())
	}
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

// slowWeights parses the field with a regular expression, floats and a map; identity is -1 if no
// member refers to it.
func slowWeights(field string) map[string]float64 {
	named := map[string]float64{}
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
		if old, twice := named[name]; !twice || q < old {
			named[name] = q
		}
	}
	w := map[string]float64{"identity": -1, "gzip": 0, "zstd": 0}
	for name := range w {
		if q, ok := named[name]; ok {
			w[name] = q
		} else if q, ok := named["*"]; ok {
			w[name] = q
		}
	}
	return w
}

func negotiateSlow(field string) (Coding, bool) {
	w := slowWeights(field)
	switch {
	case w["gzip"] > 0 && w["gzip"] >= w["zstd"] && w["gzip"] >= w["identity"]:
		return Gzip, true
	case w["zstd"] > 0 && w["zstd"] >= w["identity"]:
		return Zstd, true
	}
	return Identity, w["identity"] != 0
}
