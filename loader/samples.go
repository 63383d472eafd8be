package loader

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// rowSum is a 64-bit sum of a row's bytes: two CRCs, which processors compute in hardware, mixed
// because sums of rows are added up.
func rowSum(raw []byte) uint64 {
	h := uint64(crc32.Checksum(raw, castagnoli))<<32 | uint64(crc32.ChecksumIEEE(raw))
	h = (h ^ h>>29) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>31) * 0x94d049bb133111eb
	return h ^ h>>32
}

// rowSums are sums of the values of rows, without the numbers of places and what rows have from the
// list of countries. Only rows are in it whose groups have a sum that a number divides; the others
// have 0.
func rowSums(seg *snapshot.Segment, every uint64) []uint64 {
	sums := make([]uint64, seg.Rows())
	for row := range sums {
		sums[row] = every
	}
	for _, g := range seg.Groups() {
		tuples := make([]uint64, g.Tuples)
		addSums(tuples, seg, g)
		for row, tuple := range codesOf(g) {
			sums[row] += tuples[tuple]
		}
	}
	for row, sum := range sums {
		if sum%every != 0 {
			sums[row] = 0
		}
	}
	addSums(sums, seg, nil)
	return sums
}

// codesOf are the tuples of all rows.
func codesOf(g *snapshot.Group) []uint32 {
	codes := make([]uint32, g.Codes.Len())
	g.Codes.Unpack(codes, 0)
	return codes
}

// addSums adds the sums of the values of a group, or of rows.
func addSums(sums []uint64, seg *snapshot.Segment, g *snapshot.Group) {
	for _, c := range seg.Columns() {
		if c.Group != g || c.Name == "id" || strings.HasSuffix(c.Name, "_ref") || g != nil && c.Kind == snapshot.Bool {
			continue
		}
		for i, sum := range sums {
			switch at := uint32(i); {
			case g == nil && sum == 0:
			case c.Kind == snapshot.Text, c.Kind == snapshot.Enum:
				sums[i] += rowSum([]byte(c.Name + c.Text(at)))
			case c.Kind == snapshot.Decimal:
				sums[i] += rowSum([]byte(c.Name + c.DecString(c.Dec(at))))
			default:
				sums[i] += rowSum(fmt.Append(nil, c.Name, c.Int(at)))
			}
		}
	}
}

// fewTexts are the texts of columns that have few, such as sectors or groups of people, and the
// codes of a list.
func fewTexts(seg *snapshot.Segment) map[string][]string {
	texts := map[string][]string{}
	for _, c := range seg.Columns() {
		if c.Kind == snapshot.Text && (c.Cardinality() <= 200 || c.Name == "code") && c.Name != "resource_catalog_id" &&
			(c.Group == nil || c.Group.Name != "place") && !strings.Contains(c.Name, "location_") {
			for i := range uint32(c.Cardinality()) {
				texts[c.Name] = append(texts[c.Name], strconv.Quote(c.TextOf(i)))
			}
		}
	}
	return texts
}

func without(texts, others []string) []string {
	known := map[string]bool{}
	for _, text := range others {
		known[text] = true
	}
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return known[text] })
}

// partOf is a table, a country in it, or a year of a country.
type partOf struct {
	country string
	year    int
}

type parts map[partOf]*part

type part struct {
	rows         [2]int // now and before; not of years
	sought, gone int    // of those before
}

func (p parts) at(country string, year int) *part {
	of := partOf{country, year}
	if p[of] == nil {
		of.country = strings.Clone(country)
		p[of] = &part{}
	}
	return p[of]
}

func (p *part) seek(found bool) {
	if p.sought++; !found {
		p.gone++
	}
}

// count counts the rows of a segment, now or before. found has the sums of those now.
func (p parts) count(seg *snapshot.Segment, before int, sums []uint64, found map[uint64]bool) {
	for _, sum := range sums {
		switch {
		case sum == 0:
		case before == 0:
			found[sum] = true
		default:
			p.at("", 0).seek(found[sum])
		}
	}
	p.at("", 0).rows[before] = len(sums)
	start, err := seg.Column(periodStart)
	for _, c := range seg.Columns() {
		if !isCountry(c.Name, c.Kind) {
			continue
		}
		rows := make([]int, c.Len())
		for row, sum := range sums {
			at := c.Position(uint32(row))
			if rows[at]++; sum == 0 || before == 0 {
				continue
			}
			p.at(c.Text(at), 0).seek(found[sum])
			if err == nil {
				year := time.UnixMicro(start.Int(start.Position(uint32(row)))).UTC().Year()
				p.at(c.Text(at), year).seek(found[sum])
			}
		}
		for at, n := range rows {
			p.at(c.Text(uint32(at)), 0).rows[before] += n
		}
	}
}

// mostSought is about how many rows of a table are looked for at most.
const mostSought = 1 << 16

// compareParts says in which countries and years more than a third of the rows of a table is new or
// not as before (half of the numbers may be 0 in any unit), and adds to a fall the countries
// without rows or with less than a third of them.
func (l *load) compareParts(r *result, old store.SegmentRef, fall *Fall) {
	all, found, texts := parts{}, map[uint64]bool{}, [2]map[string][]string{}
	var segments [2]*snapshot.Segment
	for before, ref := range []store.SegmentRef{r.segments[old.Table], old} {
		seg, err := l.previous.segment(ref)
		if err != nil {
			return // a damaged store must not stop the load that repairs it
		}
		defer seg.Close()
		segments[before], texts[before] = seg, fewTexts(seg)
		all.count(seg, before, rowSums(seg, uint64(old.Rows/mostSought+1)), found)
	}
	r.report.Fell = append(r.report.Fell, fewerValues(segments[0], segments[1], fall)...)
	var others []string
	said := map[string]bool{} // countries, or "" for the whole table
	for _, of := range slices.SortedFunc(maps.Keys(all), func(a, b partOf) int {
		return cmp.Or(strings.Compare(a.country, b.country), a.year-b.year)
	}) {
		p := all[of]
		now, before := p.rows[0], p.rows[1]
		text := fmt.Sprintf("%s (%d rows, %d before)", cmp.Or(of.country, "in all"), now, before)
		if of.year != 0 {
			text = fmt.Sprintf("%s %d", of.country, of.year)
		}
		switch {
		case of.country != "" && now < min(before, 1):
			fall.Countries = append(fall.Countries, of.country)
		case of.country != "" && before >= 20 && 3*now < before:
			fall.Countries = append(fall.Countries, text)
		case said[""] || said[of.country]:
		case before >= 20 && 2*now > 3*before, p.sought >= 8 && 3*p.gone > p.sought:
			others, said[of.country] = append(others, text), true
		}
	}
	for name, was := range texts[1] {
		now := texts[0][name]
		if slices.Contains(listTexts[old.Table], name) && name != listTexts[old.Table][0] {
			continue // compareTexts names them
		}
		if gone, added := without(was, now), without(now, was); now != nil && len(gone)+len(added) > 0 {
			r.report.odd("%s of %s: new: %s; gone: %s", name, old.Table, cmp.Or(someOf(added, mostNames), "none"),
				cmp.Or(someOf(gone, mostNames), "none"))
		}
	}
	if others != nil {
		r.report.odd("%s: more than a third of the rows is not as before, see hdqs diff --rows: %s", old.Table,
			someOf(others, mostNames))
	}
}

// fewerValues are the columns that lost a tenth of their values, and more than the table lost rows.
func fewerValues(now, before *snapshot.Segment, fall *Fall) (falls []Fall) {
	for _, was := range before.Columns() {
		if was.Group != nil && strings.HasPrefix(strings.TrimPrefix(was.Name, "stored_"), "admin") {
			continue // rows above their unit are counted
		}
		f := Fall{Table: fall.Table, Column: was.Name, Before: filledIn(before, was), Allowed: fall.Allowed}
		if is, err := now.Column(was.Name); err == nil {
			f.Rows = filledIn(now, is)
		}
		if lost := f.Before - f.Rows - max(0, before.Rows()-now.Rows()); lost >= 10 && 10*lost >= f.Before {
			falls = append(falls, f)
		}
	}
	return falls
}
