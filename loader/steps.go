package loader

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/schema"
	"hdqs/snapshot"
)

// readColumn sets a column of rows from the cell under its header. A file may lack one that was
// added to the list.
func readColumn(c *schema.Column) step {
	header := c.FileHeader()
	s := step{wanted: []string{header}}
	if c.Added {
		s.wanted, s.optional = nil, s.wanted
	}
	s.bind = func(f *sourceReader) rowStep {
		csv, to, at := f.file.csv, f.rows.column(c.Name), f.file.csv.position(header)
		f.noteLacking(c)
		return func() *rowFault {
			cell := csv.cell(at)
			if why := to.read(cell); why != "" {
				return to.fault(csv, why, header, cell)
			}
			return nil
		}
	}
	return s
}

// noteLacking notes that the file has no column of a list.
func (f *sourceReader) noteLacking(c *schema.Column) {
	if header := c.FileHeader(); f.file.csv.position(header) < 0 {
		f.file.report.note("no column " + header + ": it is null in all rows")
		f.lacking = append(f.lacking, c.Name)
	}
}

// once sets the tuple of a key. It calls read for the first row with these cells only.
func once(key *tupleKey, read rowStep) rowStep {
	return func() *rowFault {
		if key.known() {
			return nil
		}
		if fault := read(); fault != nil {
			return fault
		}
		key.add()
		return nil
	}
}

// readGroup sets a tuple of columns from the cells of the same names.
func readGroup(group string, columns ...string) step {
	return step{wanted: columns, bind: func(f *sourceReader) rowStep {
		key := f.newKey(f.rows.group(group), columns...)
		cells := key.vectors(columns, 0)
		return once(key, func() *rowFault {
			if fault := key.readAll(cells); fault != nil {
				return fault
			}
			return f.checkTuple(key.group)
		})
	}}
}

// readPeriod sets the first and the last day of a row; the last one ends with its last second.
// Files of an open period may lack the end.
func readPeriod(open bool) step {
	s := step{wanted: []string{periodStart}, optional: []string{periodEnd}, bind: bindPeriod}
	if !open {
		s.wanted, s.optional = append(s.wanted, periodEnd), nil
	}
	return s
}

func bindPeriod(f *sourceReader) rowStep {
	csv := f.file.csv
	if csv.position(periodEnd) < 0 {
		f.file.report.Faults = append(f.file.report.Faults, "no column "+periodEnd+": no row has an end")
	}
	k := f.newKey(f.rows.group("period"), periodStart, periodEnd)
	start, end := k.group.column(periodStart), k.group.column(periodEnd)
	readDay := func(name string, cell []byte) (midnight int64, fault *rowFault) {
		midnight, ok := parseDay(cell)
		switch {
		case len(cell) == 0:
			return 0, csv.cellFault(missing, name, nil)
		case !ok:
			return 0, csv.cellFault(badDate, name, cell)
		}
		return midnight, nil
	}
	return once(k, func() *rowFault {
		to := k.cell(1)
		first, fault := readDay(periodStart, k.cell(0))
		if fault != nil {
			return fault
		}
		start.setInt(first)
		end.setNull()
		if len(to) > 0 || !end.nullable {
			last, fault := readDay(periodEnd, to)
			if fault != nil {
				return fault
			}
			end.setInt(endOfDay(last))
		}
		if fault := f.checkTuple(k.group); fault != nil || end.isNull(k.group.n) {
			return fault
		}
		latest := time.UnixMicro(first).UTC().AddDate(mostYears, 0, 0)
		if end.int(k.group.n) > endOfDay(latest.UnixMicro()) {
			return csv.fault(periodTooLong, fmt.Sprintf("%s: %s, at most %s, %d years after the start", periodEnd,
				quoted(to), latest.Format(time.DateOnly), mostYears))
		}
		return nil
	})
}

// countStrangers counts rows of people who have returned in the list of those who have not, and the
// other way round: the files of both have the same columns.
func countStrangers(returned bool) step {
	return step{bind: func(f *sourceReader) rowStep {
		groups := f.rows.column("population_group")
		return func() *rowFault {
			group := groups.text(f.rows.rows)
			if slices.Contains([]string{"RET", "RDP", "RRI"}, group) != returned && group != "all" {
				f.odd(otherList, "population_group: "+group)
			}
			return nil
		}
	}}
}

// checkComputed reports rows in which a number is not what it is computed from others. It keeps
// them.
func checkComputed(
	why reason, tolerance float64, name string, compute func(of []float64) float64, from ...string,
) step {
	return step{bind: func(f *sourceReader) rowStep {
		columns, values := []*vector{f.rows.column(name)}, make([]float64, 1+len(from))
		for _, other := range from {
			columns = append(columns, f.rows.column(other))
		}
		return func() *rowFault {
			row := f.rows.rows
			for i, v := range columns {
				if v.isNull(row) {
					return nil
				}
				values[i] = v.float(row)
			}
			gap := compute(values[1:]) - values[0]
			if math.Abs(gap) >= tolerance && !math.IsInf(gap, 0) { // of a division by zero
				f.odd(why, fmt.Sprintf("off by %.6f", gap))
			}
			return nil
		}
	}}
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

// checkTuple checks the next tuple of a group, which has been set.
func (f *sourceReader) checkTuple(g *tuples) *rowFault {
	if why, detail := g.wrong(f.refs.now); why != "" {
		return f.file.csv.fault(why, detail)
	}
	if list := f.refs.joins["currency"]; list != nil && list.rows.rows > 0 && g.has("currency_code") {
		code := []byte(g.column("currency_code").text(g.n))
		if _, listed := list.find(keyOf(nil, code)); !listed {
			f.odd(unknownListed, "currency: "+quoted(code))
		}
	}
	return nil
}

// wrong says what is wrong with the next tuple of a group of periods or ages, in a load of this
// time. It is empty when nothing is, and for other groups.
func (g *tuples) wrong(now int64) (why reason, detail string) {
	value := func(name string) int64 { return g.column(name).int(g.n) }
	switch g.name {
	case "period":
		return wrongPeriod(value(periodStart), value(periodEnd), time.UnixMicro(now).UTC())
	case "age":
		return wrongAges(g.column("age_range").text(g.n), value("min_age"), value("max_age"))
	}
	return "", ""
}

func wrongPeriod(start, end int64, now time.Time) (why reason, detail string) {
	const day = 24 * time.Hour
	from, to := time.UnixMicro(start).UTC(), time.UnixMicro(end).UTC().Truncate(day)
	tooFar := func(name string, at time.Time, years int) (reason, string) {
		return tooLate, fmt.Sprintf("%s: %s, at most %s, %d years after the load",
			name, at.Format(time.DateOnly), now.AddDate(years, 0, 0).Format(time.DateOnly), years)
	}
	switch {
	case start == snapshot.NullInt:
	case from.Year() < 1900:
		return tooEarly, fmt.Sprintf("%s: %s, at least 1900-01-01", periodStart, from.Format(time.DateOnly))
	case from.After(now.AddDate(mostYearsToStart, 0, 0)):
		return tooFar(periodStart, from, mostYearsToStart)
	case end == snapshot.NullInt:
	case end < start:
		return endFirst, fmt.Sprintf("%s: %s, at least %s, the start", periodEnd, to.Format(time.DateOnly),
			from.Format(time.DateOnly))
	case to.After(now.AddDate(mostYearsToEnd, 0, 0)):
		return tooFar(periodEnd, to, mostYearsToEnd)
	}
	return "", ""
}

// A period starts and ends at most so many years after the load: plans and projections are of the
// next years. No series begins before 1900. A date beyond these is a slip of a digit. The longest
// published period of data has 13 years; one of many more begins with a date that programs write
// for none, 1900-01-01 or 1970-01-01.
const (
	mostYearsToStart = 5
	mostYearsToEnd   = 20
	mostYears        = 25
)

func wrongAges(text string, least, most int64) (why reason, detail string) {
	from, to := least, most // of the text, if it is a range
	n, _ := fmt.Sscanf(text, "%d-%d", &from, &to)
	switch {
	case n == 1 && strings.HasSuffix(text, "+"):
		to = snapshot.NullInt
	case n == 1:
		from = least // 18 years and over
	}
	said := fmt.Sprintf("age_range: %q, min_age: %s, max_age: %s", clip(text, 120), ageText(least), ageText(most))
	switch {
	case text == "":
		return missing, said
	case dateAsAge.MatchString(text):
		return ageIsDate, fmt.Sprintf("age_range: %q, expected a form such as 5-9, 80+ or all", clip(text, 120))
	case text != "all" && totalName.MatchString(text):
		return totalNotAll, fmt.Sprintf("age_range: %q, want all", clip(text, 120))
	case n == 2 && from > to, least != snapshot.NullInt && most != snapshot.NullInt && least > most:
		return agesReversed, said
	case least != snapshot.NullInt && least != from, most != snapshot.NullInt && most != to,
		n == 2 && (least == snapshot.NullInt) != (most == snapshot.NullInt):
		return agesDiffer, said + ", expected those of the range, or none"
	}
	return "", ""
}

func ageText(age int64) string {
	if age == snapshot.NullInt {
		return "none"
	}
	return strconv.FormatInt(age, 10)
}

// month matches names of months in English, French, Spanish, Portuguese and German.
const month = `(?:jan|ene|f[eé][bv]|m[aä]r|apr|a[bv]r|ma[iy]|ju[inl]|aug|ao[uû]|ago|sep|set|o[cku]t|nov|d[eéi][ciz])` +
	`(?:\pL?\.?|il|ch|ust|\pL*ary|\pL*ber)`

// dateAsAge matches what spreadsheets make of a range of ages such as 5-9: 09-May, May-09, a date.
var dateAsAge = regexp.MustCompile(`(?i)^(?:\d{1,4}[-/. ]*` + month + `(?:[-/. ]*\d{1,4})?|` +
	month + `[-/. ]*\d{1,4}|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T].*)?|\d{1,2}/\d{1,4})$`)

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

func (k *tupleKey) readAll(cells []keyCell) *rowFault {
	for _, c := range cells {
		cell := k.cell(c.at)
		if why := c.to.read(cell); why != "" {
			return c.to.fault(k.csv, why, c.header, cell)
		}
	}
	return nil
}
