package loader

import (
	"strconv"

	"hdqs/snapshot"
)

// Most checks are limits of columns, held where a cell is read. Here are those that look at more
// than one value of a row.

// mpiMismatch is reported and keeps the row.
const mpiMismatch reason = "mpi_is_not_headcount_times_intensity"

// mpiTolerance is how far an index may lie from the product of its factors.
const mpiTolerance = 0.0001

// mpiGap is how far the row being set lies from mpi = headcount × intensity, in the percentages of
// both; ok is false when it lies within the tolerance or cannot be told.
func mpiGap(mpi, headcount, intensity *vector, row int) (gap float64, ok bool) {
	if mpi.isNull(row) || headcount.isNull(row) || intensity.isNull(row) {
		return 0, false
	}
	gap = headcount.float(row)*intensity.float(row)/10_000 - mpi.float(row)
	return gap, gap >= mpiTolerance || gap <= -mpiTolerance
}

// float is the Decimal at position i, which is not null.
func (v *vector) float(i int) float64 {
	d := v.decs[i]
	if d.Scale != snapshot.DecText {
		return d.Float()
	}
	f, _ := strconv.ParseFloat(v.texts[d.Mantissa], 64) // read has parsed it
	return f
}
