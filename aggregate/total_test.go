//go:build !race

package aggregate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"hdqs/snapshot"
)

// TestTotalsAgainstRationals compares sums and means of random limbs with those of big numbers.
func TestTotalsAgainstRationals(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	number := func() int64 { return (r.Int64() >> r.IntN(63)) * []int64{1, -1}[r.IntN(2)] }
	means := 0
	for range 200_000 {
		low, high, width := number(), number()>>2, 31+r.IntN(31)
		if r.IntN(3) == 0 { // half-way between two floats, or nearly
			low = (1<<53+1+2*r.Int64N(1<<10))<<r.IntN(9) + r.Int64N(3) - 1
			high = 0
		}
		sum := total{low: uint64(low), high: uint64(low >> 63), scale: r.IntN(snapshot.MaxScale + 1)}
		sum.add(high, width)
		n := 1 + r.Uint32N(1<<r.IntN(31))
		exact := new(big.Int).Lsh(big.NewInt(high), uint(width))
		exact.Add(exact, big.NewInt(low))
		for range r.IntN(3) { // zeros at the end
			if v := new(big.Int).Mul(exact, big.NewInt(10)); v.BitLen() < 127 {
				exact = v
				ten := new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0)))
				sum.low, sum.high = ten.Uint64(), uint64(new(big.Int).Rsh(v, 64).Int64())
			}
		}
		want := bigDecimal(exact, sum.scale, Decimal)
		v, ok := sum.value(Sum, n, Decimal)
		// A sum of 64 bits needs no more, but for the one whose absolute value does.
		if ok && v.String() != want.String() || !ok && want.Text == "" && want.Int != math.MinInt64 {
			t.Fatalf("seed %d: sum of %v is %v, %t, want %v", seed, sum, v, ok, want)
		}
		mean := bigMean(exact, sum.scale, n)
		v, ok = sum.value(Mean, n, Decimal)
		if ok && v != mean {
			t.Fatalf("seed %d: mean of %v / %d is %v, want %v", seed, sum, n, v.Float, mean.Float)
		}
		if ok {
			means++
		}
	}
	if means < 100_000 {
		t.Errorf("only %d means of 200,000 took 128 bits", means)
	}
}
