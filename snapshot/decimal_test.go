//go:build !race

package snapshot

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

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
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
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
