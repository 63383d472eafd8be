//go:build !race

package render

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// TestDecimals checks the cases of testdata/decimals.txt.
func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, c := range testkit.Cases(t, "testdata/decimals.txt", " ", 2) {
		testkit.Equal(t, printed(c[0]), c[1], "%s is printed as", c[0])
	}
}

// printed returns how a decimal with this exact text is printed, by the code path that its column
// would use.
func printed(text string) string {
	if d, ok := snapshot.ParseDec(text); ok {
		return string(appendDec(nil, d.Mantissa, d.Scale))
	}
	return string(appendExact(nil, text))
}

// TestDecimalsAgainstFloats prints random floats of every size, decimals as people write them, and
// the limits of the ranges.
func TestDecimalsAgainstFloats(t *testing.T) {
	t.Parallel()
	r := testkit.Random(t)
	ordinary := 0
	check := func(text string) {
		f := testkit.Value(strconv.ParseFloat(text, 64))(t)
		if f == 0 {
			f = 0 // a decimal zero has no sign
		}
		if _, ok := snapshot.ParseDec(text); ok {
			ordinary++
		}
		testkit.Equal(t, printed(text), pythonRepr(f), "%s is printed as", text)
	}
	rounds := 100_000
	if testing.Short() {
		rounds = 20_000
	}
	for range rounds {
		check(strconv.FormatFloat(math.Float64frombits(r.Uint64()&^(0x7ff<<52)|uint64(1023-70+r.IntN(140))<<52), 'f',
			-1, 64))
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
	for scale := range 12 { // the limits of each number of digits, with the point in every place
		for power := int64(1); power < 1e17; power *= 10 {
			for _, m := range []int64{power - 1, power, power + 1, 2*power - 1} {
				digits := strings.Repeat("0", max(scale+1-len(strconv.FormatInt(m, 10)), 0)) + strconv.FormatInt(m, 10)
				check(digits[:len(digits)-scale] + "." + digits[len(digits)-scale:])
			}
		}
	}
	if ordinary < 3*rounds {
		t.Errorf("%d of %d decimals fit a Dec: the fast path was hardly tested", ordinary, 6*rounds)
	}
}

func TestInts(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	values := []int64{0, math.MaxInt64, math.MinInt64 + 1, math.MinInt64}
	for p := int64(1); p <= 1e18 && p > 0; p *= 10 {
		values = append(values, p-1, p, p+1, -p, 1-p)
	}
	for range 100_000 {
		values = append(values, int64(r.Uint64())>>r.IntN(64))
	}
	for _, v := range values {
		testkit.Equal(t, string(appendInt([]byte("x"), v)), "x"+strconv.FormatInt(v, 10), "the text")
	}
}

// TestSubsetBytes checks that different subsets take a bounded memory, and that they give it up.
func TestSubsetBytes(t *testing.T) {
	t.Parallel()
	seg, fields := benchTable(t, "events", 200_000)
	r := newRenderer(t, seg, fields, encode.Options{})
	ranges := []index.Range{{From: 0, To: 20_000}}
	all := r.JSON().Append(nil, ranges)
	before, seen := r.Bytes(), map[string]bool{}
	limit := blockBytes(seg.Rows())
	source := rand.New(rand.NewPCG(1, 2))
	most := int64(0)
	for range 120 {
		at := randomFields(source, len(fields))
		seen[fmt.Sprint(at)] = true
		form := r.Subset(r.JSON(), at)
		for range 3 {
			form.AppendCoded(nil, encode.Gzip, ranges)
			most = max(most, r.Bytes()-before)
		}
		if n := r.subsets.Bytes(); n > maxSubsets {
			t.Fatalf("%d forms are kept", n)
		}
	}
	if len(seen) < 60 || most == 0 || most > limit {
		t.Errorf("%d subsets took %d bytes, the limit is %d", len(seen), most, limit)
	}
	r.Forget()
	testkit.Equal(t, r.subsets.Bytes()+r.options.Cache.Bytes(), 0, "forms or bytes are left")
	testkit.EqualLists(t, r.JSON().Append(nil, ranges), all, "the whole records are different afterwards")
}
