package loader

import "fmt"

// step is one part of reading a row. bind readies it for one file: the function it gives is called once a row, sets columns of the
// reading's assembly, and answers with the reason for which the row cannot be used, "" when it can.
type step struct {
	wants    []string // columns that the file must have
	optional []string // columns that are used when it has them
	bind     func(f *sourceReader) func() reason
}

// read takes the column of this name from the cell of the same name.
func read(name string) step { return readAs(name, name) }

// readAs takes a column from the cell under another header.
func readAs(header, name string) step {
	return step{wants: []string{header}, bind: func(f *sourceReader) func() reason {
		v, at := f.rows.column(name), f.csv.position(header)
		return func() reason {
			cell := f.csv.cell(at)
			if why := v.read(cell); why != "" {
				return f.fail(why, header, cell)
			}
			return ""
		}
	}}
}

// readGroup takes a tuple of columns from the cells of the same names.
func readGroup(group string, names ...string) step {
	return step{wants: names, bind: func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group(group), names...)
		vectors := make([]*vector, len(names))
		for i, name := range names {
			vectors[i] = k.group.column(name)
		}
		return func() reason {
			if k.known() {
				return ""
			}
			for i, v := range vectors {
				cell := k.cell(i)
				if why := v.read(cell); why != "" {
					return f.fail(why, names[i], cell)
				}
			}
			k.add()
			return ""
		}
	}}
}

// readPeriod takes the first and the last day of a row; the last one ends with its last second.
func readPeriod() step {
	return periodStep([]string{"reference_period_start", "reference_period_end"}, nil)
}

// readOpenPeriod is readPeriod where the end may be missing.
func readOpenPeriod() step {
	return periodStep([]string{"reference_period_start"}, []string{"reference_period_end"})
}

func periodStep(wants, optional []string) step {
	return step{wants: wants, optional: optional, bind: func(f *sourceReader) func() reason {
		k := f.newKey(f.rows.group("period"), "reference_period_start", "reference_period_end")
		start, end := k.group.column("reference_period_start"), k.group.column("reference_period_end")
		return func() reason {
			if k.known() {
				return ""
			}
			first, ok := parseDay(k.cell(0))
			switch {
			case len(k.cell(0)) == 0:
				return f.fail(missing, "reference_period_start", nil)
			case !ok:
				return f.fail(badDate, "reference_period_start", k.cell(0))
			}
			start.setInt(first)
			switch last, ok := parseDay(k.cell(1)); {
			case len(k.cell(1)) == 0 && end.nullable:
				end.setNull()
			case len(k.cell(1)) == 0:
				return f.fail(missing, "reference_period_end", nil)
			case !ok:
				return f.fail(badDate, "reference_period_end", k.cell(1))
			case last < first:
				return f.fail(endFirst, "reference_period_end", k.cell(1))
			default:
				end.setInt(endOfDay(last))
			}
			k.add()
			return ""
		}
	}}
}

// checkIndex notes rows whose poverty index is not the product of its two factors. They stay.
func checkIndex() step {
	return step{bind: func(f *sourceReader) func() reason {
		mpi, headcount, intensity := f.rows.column("mpi"), f.rows.column("headcount_ratio"), f.rows.column("intensity_of_deprivation")
		return func() reason {
			if gap, ok := mpiGap(mpi, headcount, intensity, f.rows.rows); ok {
				f.report.odd(f.fault(mpiMismatch, fmt.Sprintf("off by %.6f", gap)))
			}
			return ""
		}
	}}
}

// tupleKey finds the tuple of a row by the cells it comes from. Neighbouring rows mostly have the same one, which is told by comparing bytes.
type tupleKey struct {
	f     *sourceReader
	group *tuples
	at    []int
	key   []byte
	last  []byte
	code  uint32
	valid bool // code is that of last
}

func (f *sourceReader) newKey(group *tuples, headers ...string) *tupleKey {
	k := &tupleKey{f: f, group: group}
	for _, name := range headers {
		k.at = append(k.at, f.csv.position(name))
	}
	return k
}

func (k *tupleKey) cell(i int) []byte { return k.f.csv.cell(k.at[i]) }

// known sets the row's tuple when one with the same cells was seen before.
func (k *tupleKey) known() bool {
	k.key = k.key[:0]
	for _, at := range k.at {
		k.key = append(append(k.key, k.f.csv.cell(at)...), 0xff) // no byte of UTF-8
	}
	if k.valid && string(k.key) == string(k.last) {
		k.group.set(k.code)
		return true
	}
	code, ok := k.group.find(k.key)
	if ok {
		k.use(code)
	}
	return ok
}

// add makes the values that were set the tuple of these cells.
func (k *tupleKey) add() { k.use(k.group.add(k.key)) }

func (k *tupleKey) use(code uint32) {
	k.group.set(code)
	k.last, k.code, k.valid = append(k.last[:0], k.key...), code, true
}
