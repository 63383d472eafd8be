package loader

import "fmt"

// step is one part of reading a row: it takes some cells of a file and sets some columns of a
// table. Cells are found by the names in the file's header, so the order of columns does not
// matter.
type step interface {
	// headers are the columns that a file must have, and those that are used when it has them.
	headers() (wanted, optional []string)

	// bind prepares the step for one file.
	bind(f *sourceReader) rowStep
}

// rowStep is a step bound to a file.
type rowStep interface {
	// Row sets the step's columns from the current row. A fault means that the row cannot be used.
	Row() *rowFault
}

// names are the headers of steps that have nothing else to declare.
type names struct{ wanted, optional []string }

func (n names) headers() (wanted, optional []string) { return n.wanted, n.optional }

// read sets the column of this name from the cell of the same name.
func read(name string) step { return columnStep{header: name, column: name} }

// readAs sets a column from the cell under another header.
func readAs(header, name string) step { return columnStep{header: header, column: name} }

type columnStep struct{ header, column string }

func (s columnStep) headers() (wanted, optional []string) { return []string{s.header}, nil }

func (s columnStep) bind(f *sourceReader) rowStep {
	return &columnRow{csv: f.file.csv, to: f.rows.column(s.column), at: f.file.csv.position(s.header), header: s.header}
}

type columnRow struct {
	csv    *csvReader
	to     *vector
	at     int
	header string
}

// Row reads one cell.
func (s *columnRow) Row() *rowFault {
	cell := s.csv.cell(s.at)
	if why := s.to.read(cell); why != "" {
		return s.csv.cellFault(why, s.header, cell)
	}
	return nil
}

// readGroup sets a tuple of columns from the cells of the same names.
func readGroup(group string, columns ...string) step {
	return groupStep{names{wanted: columns}, group}
}

type groupStep struct {
	names
	group string
}

func (s groupStep) bind(f *sourceReader) rowStep {
	key := f.newKey(f.rows.group(s.group), s.wanted...)
	return &groupRow{csv: f.file.csv, key: key, cells: key.vectors(s.wanted, 0)}
}

type groupRow struct {
	csv   *csvReader
	key   *tupleKey
	cells []keyCell
}

// Row reads the tuple unless its cells have been seen before.
func (s *groupRow) Row() *rowFault {
	if s.key.known() {
		return nil
	}
	if fault := s.key.readAll(s.cells); fault != nil {
		return fault
	}
	s.key.add()
	return nil
}

// readPeriod sets the first and the last day of a row; the last one ends with its last second.
func readPeriod() step {
	return periodStep{names{wanted: []string{periodStart, periodEnd}}}
}

// readOpenPeriod is readPeriod where the file may lack the end.
func readOpenPeriod() step {
	return periodStep{names{wanted: []string{periodStart}, optional: []string{periodEnd}}}
}

const periodStart, periodEnd = "reference_period_start", "reference_period_end"

type periodStep struct{ names }

func (periodStep) bind(f *sourceReader) rowStep {
	if f.file.csv.position(periodEnd) < 0 {
		f.file.report.Faults = append(f.file.report.Faults, "no column "+periodEnd+": no row has an end")
	}
	k := f.newKey(f.rows.group("period"), periodStart, periodEnd)
	return &periodRow{csv: f.file.csv, key: k, start: k.group.column(periodStart), end: k.group.column(periodEnd)}
}

type periodRow struct {
	csv        *csvReader
	key        *tupleKey
	start, end *vector
}

// Row reads the two days unless they have been seen before.
func (s *periodRow) Row() *rowFault {
	if s.key.known() {
		return nil
	}
	from, to := s.key.cell(0), s.key.cell(1)
	first, ok := parseDay(from)
	switch {
	case len(from) == 0:
		return s.csv.cellFault(missing, periodStart, nil)
	case !ok:
		return s.csv.cellFault(badDate, periodStart, from)
	}
	s.start.setInt(first)
	switch last, ok := parseDay(to); {
	case len(to) == 0 && s.end.nullable:
		s.end.setNull()
	case len(to) == 0:
		return s.csv.cellFault(missing, periodEnd, nil)
	case !ok:
		return s.csv.cellFault(badDate, periodEnd, to)
	case last < first:
		return s.csv.cellFault(endFirst, periodEnd, to)
	default:
		s.end.setInt(endOfDay(last))
	}
	s.key.add()
	return nil
}

// checkPovertyIndex reports rows whose poverty index is not the product of its two factors. It
// keeps them.
func checkPovertyIndex() step { return povertyStep{} }

type povertyStep struct{ names }

func (povertyStep) bind(f *sourceReader) rowStep {
	return &povertyRow{
		f: f, mpi: f.rows.column("mpi"),
		headcount: f.rows.column("headcount_ratio"), intensity: f.rows.column("intensity_of_deprivation"),
	}
}

type povertyRow struct {
	f                         *sourceReader
	mpi, headcount, intensity *vector
}

// Row compares the values that earlier steps have set.
func (s *povertyRow) Row() *rowFault {
	if gap, ok := mpiGap(s.mpi, s.headcount, s.intensity, s.f.rows.rows); ok {
		s.f.odd(mpiMismatch, fmt.Sprintf("off by %.6f", gap))
	}
	return nil
}

// tupleKey finds the tuple of a row by the cells it comes from. Neighbouring rows mostly have the
// same tuple, so the cells are compared with those of the row before first.
type tupleKey struct {
	csv   *csvReader
	group *tuples
	at    []int
	key   []byte
	last  []byte
	code  uint32 // of the current row
	valid bool   // code is that of last
}

func (f *sourceReader) newKey(group *tuples, headers ...string) *tupleKey {
	k := &tupleKey{csv: f.file.csv, group: group}
	for _, name := range headers {
		k.at = append(k.at, k.csv.position(name))
	}
	return k
}

func (k *tupleKey) cell(i int) []byte { return k.csv.cell(k.at[i]) }

// known sets the row's tuple if one with the same cells has been added.
func (k *tupleKey) known() bool {
	k.key = k.key[:0]
	for _, at := range k.at {
		k.key = append(append(k.key, k.csv.cell(at)...), 0xff) // 0xff does not occur in UTF-8
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

// keyCell is a cell of a key and the column that it is read into.
type keyCell struct {
	to     *vector
	at     int // position in the key
	header string
}

// vectors pairs columns of the key's group with the cells of the same names, which begin at
// position from of the key.
func (k *tupleKey) vectors(columns []string, from int) []keyCell {
	var cells []keyCell
	for i, name := range columns {
		cells = append(cells, keyCell{to: k.group.column(name), at: from + i, header: name})
	}
	return cells
}

// readAll reads the cells into their columns.
func (k *tupleKey) readAll(cells []keyCell) *rowFault {
	for _, c := range cells {
		cell := k.cell(c.at)
		if why := c.to.read(cell); why != "" {
			return k.csv.cellFault(why, c.header, cell)
		}
	}
	return nil
}
