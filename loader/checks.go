package loader

import (
	"strconv"

	"hdqs/snapshot"
)

// Most checks are limits of columns, applied where a cell is read. These look at more than one
// value of a row.

// mpiMismatch is reported; the row is kept.
const mpiMismatch reason = "mpi_is_not_headcount_times_intensity"

// mpiTolerance is how far an index may be from the product of its factors.
const mpiTolerance = 0.0001

// mpiGap is the difference between headcount × intensity, both in percent, and mpi in the current
// set. ok is false when it is within the tolerance or one of the values is null.
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
