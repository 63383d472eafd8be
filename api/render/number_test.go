package render

import (
	"bufio"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"hdqs/snapshot"
)

// TestDecimals reads testdata/decimals.txt.
func TestDecimals(t *testing.T) {
	f, err := os.Open("testdata/decimals.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for line, n := bufio.NewScanner(f), 1; line.Scan(); n++ {
		if line.Text() == "" || line.Text()[0] == '#' {
			continue
		}
		text, want, _ := strings.Cut(line.Text(), " ")
		if got := printed(text); got != want {
			t.Errorf("decimals.txt:%d: %s prints as %s, want %s", n, text, got, want)
		}
	}
}

// printed is what a decimal of this exact text prints as, by the way a column would take.
func printed(text string) string {
	if d, ok := snapshot.ParseDec(text); ok {
		return string(appendDec(nil, d.Mantissa, d.Scale))
	}
	return string(appendExact(nil, text))
}

// pythonRepr is Python's repr of a float, by its definition: the plain form from 1e-4 to below 1e16, the exponent form elsewhere.
func pythonRepr(f float64) string {
	if a := math.Abs(f); f != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// TestDecimalsAgainstFloats prints random floats of every size, decimals as people write them, and the ends of the ranges.
func TestDecimalsAgainstFloats(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	ordinary := 0
	check := func(text string) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if f == 0 {
			f = 0 // the exact zero has no sign
		}
		if _, ok := snapshot.ParseDec(text); ok {
			ordinary++
		}
		if got, want := printed(text), pythonRepr(f); got != want {
			t.Fatalf("%s prints as %s, want %s", text, got, want)
		}
	}
	for range 100_000 {
		check(strconv.FormatFloat(math.Float64frombits(r.Uint64()&^(0x7ff<<52)|uint64(1023-70+r.IntN(140))<<52), 'f', -1, 64))
		check(strconv.FormatFloat(float64(float32(r.NormFloat64()*1000)), 'f', -1, 64))
		digits := strconv.FormatInt(r.Int64N(1<<r.IntN(62)+1), 10)
		if r.IntN(2) == 0 {
			digits = "-" + digits
		}
		check(digits)
		check(digits + "." + strconv.FormatInt(r.Int64N(1<<r.IntN(62)+1), 10))
		check("0." + strings.Repeat("0", r.IntN(12)) + strconv.FormatInt(r.Int64N(1<<r.IntN(62)+1), 10))
		check(digits + strings.Repeat("0", r.IntN(10)))
	}
	for scale := range 12 { // the ends of numbers of digits, with the point at every place
		for power := int64(1); power < 1e17; power *= 10 {
			for _, m := range []int64{power - 1, power, power + 1, 2*power - 1} {
				digits := strings.Repeat("0", max(scale+1-len(strconv.FormatInt(m, 10)), 0)) + strconv.FormatInt(m, 10)
				check(digits[:len(digits)-scale] + "." + digits[len(digits)-scale:])
			}
		}
	}
	if ordinary < 300_000 {
		t.Errorf("%d of 600,000 were ordinary decimals: the fast path was hardly tested", ordinary)
	}
}

func TestInts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []int64{0, math.MaxInt64, math.MinInt64 + 1, math.MinInt64}
	for p := int64(1); p <= 1e18 && p > 0; p *= 10 {
		values = append(values, p-1, p, p+1, -p, 1-p)
	}
	for range 100_000 {
		values = append(values, int64(r.Uint64())>>r.IntN(64))
	}
	for _, v := range values {
		if got, want := string(appendInt([]byte("x"), v)), "x"+strconv.FormatInt(v, 10); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func BenchmarkNumbers(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	ints, decs := make([]int64, 1024), make([]snapshot.Dec, 1024)
	for i := range ints {
		ints[i] = r.Int64N(1 << r.IntN(24))
		decs[i], _ = snapshot.ParseDec(strconv.FormatFloat(r.Float64()*1000, 'f', 4, 64))
	}
	buf := make([]byte, 0, 64)
	b.Run("kind=int", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			buf = appendInt(buf[:0], ints[i&1023])
		}
	})
	b.Run("kind=decimal", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			d := decs[i&1023]
			buf = appendDec(buf[:0], d.Mantissa, d.Scale)
		}
	})
	b.Run("kind=decimal,control=strconv", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			buf = strconv.AppendFloat(buf[:0], decs[i&1023].Float(), 'g', -1, 64)
		}
	})
}
