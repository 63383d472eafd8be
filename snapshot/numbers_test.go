//go:build !race

package snapshot

import (
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

// TestDecimalBounds compares the check of 64 decimals at once with that of each: random numbers of
// every width and scale, of which about half of the lists have one that is out of bounds.
func TestDecimalBounds(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	passed, rounds := 0, int(fewer(20_000))
	for range rounds {
		p, exact := randomDecimals(r)
		b := p.bounds(&exact)
		numbers := make([]uint64, p.Packed.n)
		for i := range numbers {
			numbers[i] = p.Packed.At(uint32(i))
		}
		want := p.checkExactly(&b, 0, numbers, &exact)
		got := p.checkDecimals(&exact, nil)
		if (got == nil) != (want == nil) || got != nil && got.Error() != want.Error() {
			t.Fatalf("%d decimals: %v; want %v", p.Packed.n, got, want)
		}
		if want == nil {
			passed++
		}
	}
	if passed < rounds/10 || passed > rounds*9/10 {
		t.Errorf("%d of %d lists pass, want some of both", passed, rounds)
	}
}

func randomDecimals(r *rand.Rand) (p Numbers, exact exactTexts) {
	p.Base = []int64{0, -7, 1<<63 - 1, -1 << 63, r.Int64(), -r.Int64() >> r.IntN(64)}[r.IntN(6)]
	exact.n = r.IntN(5)
	for range 1 + r.IntN(6) {
		p.Scales = append(p.Scales, []uint8{0, 1, uint8(r.IntN(MaxScale + 1)), DecText, DecNull}[r.IntN(5)])
	}
	slices.Sort(p.Scales)
	p.Scales = slices.Compact(p.Scales)
	for 1<<p.ScaleBits < len(p.Scales) {
		p.ScaleBits++
	}
	width := int(p.ScaleBits) + r.IntN(64-int(p.ScaleBits)) + 1
	n, bad := 1+r.IntN(300), r.IntN(300)
	b := p.bounds(&exact)
	pack := newPacker(n, width)
	most := ^uint64(0) >> (64 - width)
	for i := range n {
		v := r.Uint64() & most
		for range 100 {
			if (p.checkExactly(&b, 0, []uint64{v}, &exact) == nil) == (i != bad) {
				break
			}
			v = r.Uint64() & most >> r.IntN(width)
		}
		pack.add(v)
	}
	p.Packed = newPacked(pack.bytes(), n, width)
	return p, exact
}

// randomRange returns a range of numbers up to most, as a first number and how many more: at both
// ends, in the middle, around the half of them, and of one number.
func randomRange(r *rand.Rand, most uint64) (lo, more uint64) {
	lo = []uint64{0, most, r.Uint64N(most + 1), most - most>>6, most>>1 + r.Uint64N(3) - 1, 1}[r.IntN(6)] & most
	more = []uint64{
		0, most - lo, r.Uint64N(most - lo + 1), most>>6 - min(lo, most>>6), 1<<64 - 1, most>>1 + r.Uint64N(3) - 1,
	}[r.IntN(6)]
	return lo, min(more, 1<<64-1-lo)
}

// TestPackedRange compares scans that are long enough for a rangeTest with tests of each number,
// for few to many numbers in the range.
func TestPackedRange(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for width := uint64(1); width <= 33; width++ {
		for round := range 60 {
			most := uint64(1)<<width - 1
			lo, more := randomRange(r, most)
			in := func(v uint64) bool { return v >= lo && v-lo <= more }
			n, rarely := rangeRows+r.IntN(12*rangeRows), 1+r.IntN(1000)
			pack := newPacker(n, int(width))
			numbers := make([]uint64, n)
			for i := range numbers {
				v := r.Uint64() & most
				for range 20 { // mostly a number outside, also a neighbour of the range
					if !in(v) || r.IntN(rarely) == 0 {
						break
					}
					v = []uint64{r.Uint64(), lo - 1, lo + more + 1}[r.IntN(3)] & most
				}
				numbers[i] = v
				pack.add(v)
			}
			p := newPacked(pack.bytes(), n, int(width))
			from := r.IntN(3) * 64
			if r.IntN(4) == 0 {
				from = r.IntN(300)
			}
			count := n - from - r.IntN(100)
			got, want := make([]uint64, n/64+1), make([]uint64, n/64+1)
			got[0], want[0] = 4, 4
			for i, v := range numbers[from : from+count] {
				if in(v) {
					want[i>>6] |= 1 << (i & 63)
				}
			}
			if p.Within(uint32(from), count, lo, more, got); !slices.Equal(got, want) {
				t.Fatalf("width %d round %d: [%d,+%d] of %d from %d differs", width, round, lo, more,
					count, from)
			}
		}
	}
}

// TestWithinBlocks compares the test of whole blocks with tests of each number, while the block is
// read. Without a number above the bound all of it is read, up to its last piece.
func TestWithinBlocks(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	for width := 1; width <= 40; width++ {
		for range 60 {
			most := uint64(1)<<width - 1
			bound := most - r.Uint64N(most>>r.IntN(width)+1)
			n, at := rangeRows+r.IntN(4*rangeRows), -1
			values := make([]uint64, n)
			for i := range values {
				values[i] = []uint64{r.Uint64N(bound + 1), bound, most >> 1 & bound, 0}[r.IntN(4)]
			}
			if bound < most && r.IntN(2) == 0 {
				at = r.IntN(n)
				values[at] = bound + 1 + []uint64{0, r.Uint64N(most - bound), most - bound - 1}[r.IntN(3)]
			}
			pack := newPacker(n, width)
			for _, v := range values {
				pack.add(v)
			}
			p := newPacked(pack.bytes(), n, width)
			read := reading{data: p.data}
			if got := p.within(bound, &read); got != (at < 0) {
				t.Fatalf("width %d: within %d of %d numbers is %v, number %d is above", width, bound, n,
					got, at)
			}
			if want := crc32.Checksum(p.data, castagnoli); read.checksum() != want {
				t.Fatalf("width %d: checksum %08x of %d bytes, want %08x", width, read.sum, len(p.data),
					want)
			}
		}
	}
}

var repeated = regexp.MustCompile(`\((.)\*(\d+)\)`)

// TestDecimalCases checks the texts of testdata/decimal.txt.
func TestDecimalCases(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Cases(t, "testdata/decimal.txt", " ", 2) {
		text := c[0]
		want := repeated.ReplaceAllStringFunc(strings.TrimSpace(c[1]), func(s string) string {
			m := repeated.FindStringSubmatch(s)
			times, _ := strconv.Atoi(m[2])
			return strings.Repeat(m[1], times)
		})
		got := "no number"
		if d, ok := ParseDec(text); ok {
			got = fmt.Sprintf("%d %d", d.Mantissa, d.Scale)
		} else if plain, ok := PlainDecimal(text); ok {
			got = "exact " + plain
		}
		testkit.Equal(t, got, want, "%s", text)
	}
	for _, text := range []string{"", " 1", "1 ", "1\x00"} {
		if _, ok := PlainDecimal(text); ok {
			t.Errorf("%q parses as a number", text)
		}
	}
}

// checkDecimal compares the decimal of a text with exact arithmetic.
func checkDecimal(text string) error {
	want, isNumber := new(big.Rat).SetString(text)
	d, ok := ParseDec(text)
	plain, isPlain := PlainDecimal(text)
	if ok && !isPlain {
		return fmt.Errorf("%q is a decimal but has no plain digits", text)
	}
	if !isPlain {
		return nil
	}
	if !isNumber {
		return fmt.Errorf("%q: plain digits %q are not a number", text, plain)
	}
	if got, is := new(big.Rat).SetString(plain); !is || got.Cmp(want) != 0 || strings.ContainsAny(plain, "eE+") {
		return fmt.Errorf("%q: plain digits %q", text, plain)
	}
	if again, is := PlainDecimal(plain); !is || again != plain {
		return fmt.Errorf("%q: plain digits %q become %q", text, plain, again)
	}
	exact, _ := strconv.ParseFloat(text, 64)
	shortest, is := new(big.Rat).SetString(strconv.FormatFloat(exact, 'g', -1, 64))
	survives := is && shortest.Cmp(want) == 0
	if !ok {
		// A text that does not fit must be too long or too precise, or lose digits as a float.
		scaled := new(big.Rat).Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)))
		fits := scaled.IsInt() && len(strings.Trim(strings.ReplaceAll(plain, ".", ""), "-0")) <= 18 &&
			want.Num().IsInt64()
		if fits && survives && len(strings.TrimPrefix(plain, "-")) <= 18 {
			return fmt.Errorf("%q fits, but is refused", text)
		}
		return nil
	}
	switch {
	case !d.canonical():
		return fmt.Errorf("%q becomes %d with scale %d", text, d.Mantissa, d.Scale)
	case d.String() != plain:
		return fmt.Errorf("%q prints as %s, want %s", text, d, plain)
	case d.Rat().Cmp(want) != 0:
		return fmt.Errorf("%q is %s", text, d.Rat())
	case d.Float() != exact:
		return fmt.Errorf("%q is %v as a float, want %v", text, d.Float(), exact)
	case !survives:
		return fmt.Errorf("%q is accepted, but its shortest float is %s", text, shortest.FloatString(20))
	}
	return nil
}

func randomNumber(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return strconv.FormatFloat(math.Float64frombits(r.Uint64()&^(1<<62)), "feg"[r.IntN(3)], -1, 64)
	case 1:
		return strconv.FormatFloat(math.Round(r.NormFloat64()*1e6)/1e4, 'f', r.IntN(10), 64)
	}
	digits := strconv.FormatUint(r.Uint64()>>r.IntN(64), 10) + strings.Repeat("0", r.IntN(4))
	at := r.IntN(len(digits) + 1)
	text := strings.Repeat("-", r.IntN(2)) + strings.Repeat("0", r.IntN(3)) + digits[:at] + "." + digits[at:]
	if r.IntN(3) == 0 {
		text += fmt.Sprintf("e%+d", r.IntN(60)-30)
	}
	return text
}

func TestDecimalsAgainstRationals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 10))
	fit := 0
	var last Dec
	n := fewer(100_000)
	for i := range n {
		text := randomNumber(r)
		if err := checkDecimal(text); err != nil {
			t.Fatalf("number %d: %v", i, err)
		}
		d, ok := ParseDec(text)
		if !ok {
			continue
		}
		fit++
		if got, want := d.Compare(last), d.Rat().Cmp(last.Rat()); got != want {
			t.Fatalf("%s against %s: %d, want %d", d, last, got, want)
		}
		if d.Compare(d) != 0 {
			t.Fatalf("%s does not equal itself", d)
		}
		last = d
	}
	if fit < int(n/5) {
		t.Errorf("only %d of %d numbers fit", fit, n)
	}
}
