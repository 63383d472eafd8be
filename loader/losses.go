package loader

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hdqs/loader/catalogfile"
	"hdqs/schema"
	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// before opens the table that a role had before, to compare the new one with it. It is nil if there
// is none, if the role may shrink, and in a damaged store, which must not stop the load that
// repairs it.
func (l *load) before(th *theme) *snapshot.Segment {
	if !l.previous.hasRows(th.table.name) || l.opts.mayShrink(th.role) {
		return nil
	}
	seg, err := l.previous.open(th.table.name)
	if err != nil {
		return nil
	}
	return seg
}

// isOf reports whether a file is one of the last snapshot: by its id, its name or its bytes. That
// of a role with one file may have any name.
func (r *ResourceReport) isOf(old fileState, single bool) bool {
	return r.id != "" && r.id == old.ID || plainName(r.Path) == plainName(old.Path) || r.SHA256 == old.SHA256 || single
}

// lostFiles is the error of a role that lacks a file of the last snapshot, or of which a file lost
// more than half of its rows.
func (p *pass) lostFiles(th *theme, out *roleRows) error {
	was := p.load.previous.state.Roles[th.role].Files
	if !p.load.previous.hasRows(th.table.name) || p.load.opts.mayShrink(th.role) {
		return nil
	}
	for _, old := range was {
		i := slices.IndexFunc(out.resources, func(r *ResourceReport) bool {
			return r.isOf(old, len(out.resources) == 1 && len(was) == 1)
		})
		if i < 0 {
			return fmt.Errorf("%s, with %d rows in the current snapshot, is not in the catalog any more; "+
				"--allow-shrink=%s accepts it", old.Path, old.Report.Rows.Kept, th.role)
		}
		if now := out.resources[i]; 2*now.Rows.Kept < old.Report.Rows.Kept {
			return fmt.Errorf("%s fell from %d to %d rows; --allow-shrink=%s accepts it",
				now.Path, old.Report.Rows.Kept, now.Rows.Kept, th.role)
		}
	}
	return nil
}

// lostValues is the error of a role of which a column lost more than half of its values or lacks in
// a file, or of which more than half of the texts in a column are gone: codes or units were
// renamed, or the file is that of another list. Places and sources are compared in other ways.
func (l *load) lostValues(r *result, th *theme, rows *tableBuilder, lacking []string) error {
	seg := l.before(th)
	if seg != nil {
		defer seg.Close()
	}
	for i := range th.table.columns {
		v := rows.column(th.table.columns[i].name)
		if rows.rows == 0 || v.kind == snapshot.Bool || v.group == "place" ||
			v.name == "resource_catalog_id" || slices.Contains(schema.UnitColumns, v.name) {
			continue
		}
		if seg == nil { // no table before says whether the column was emptied
			if v.filled() == 0 {
				r.note(th.table.name + ": no row has a value in " + v.name)
			}
			continue
		}
		was, err := seg.Column(v.name)
		if err != nil {
			continue
		}
		lost, now, before := "", v.filled(), filledIn(seg, was)
		switch gone, example := v.goneTexts(was); {
		case slices.Contains(lacking, v.name) && before > 0:
			lost = fmt.Sprintf("a file has no column %s, which has values in the current snapshot", v.name)
		case now < min(before, 1), v.group == "" && before >= 20 && 2*now < before:
			lost = fmt.Sprintf("column %s of table %s fell from %d to %d values", v.name, th.table.name, before, now)
		case 2*gone > was.Cardinality():
			lost = fmt.Sprintf("%d of %d values of column %s of table %s are gone, such as %q", gone, was.Cardinality(),
				v.name, th.table.name, example)
		default:
			continue
		}
		return fmt.Errorf("%s; --allow-shrink=%s accepts it", lost, th.role)
	}
	return nil
}

// goneTexts is how many texts of a stored column a column of texts has no more, and the first one.
func (v *vector) goneTexts(was *snapshot.Column) (n int, first string) {
	if v.kind != snapshot.Text {
		return 0, ""
	}
	for code := range uint32(was.Cardinality()) {
		if _, is := v.byText[was.TextOf(code)]; !is {
			n, first = n+1, cmp.Or(first, strings.Clone(was.TextOf(code)))
		}
	}
	return n, first
}

// filledIn is filled of a stored column, by rows.
func filledIn(seg *snapshot.Segment, c *snapshot.Column) (n int) {
	hasEmpty := c.Kind == snapshot.Text && c.Cardinality() > 0 && c.TextOf(0) == ""
	if !c.Nullable && !hasEmpty {
		return seg.Rows()
	}
	for row := range uint32(seg.Rows()) {
		if i := c.Position(row); !c.IsNull(i) && (!hasEmpty || c.Text(i) != "") {
			n++
		}
	}
	return n
}

// lostCountries is the error of a data table without a row of a country that the previous snapshot
// has rows of.
func (l *load) lostCountries(th *theme, data *snapshot.TableData) error {
	seg := l.before(th)
	if seg == nil {
		return nil
	}
	defer seg.Close()
	var lost []string
	present := countriesOf(data)
	for _, c := range seg.Columns() {
		for code := uint32(0); isCountry(c.Name, c.Kind) && code < uint32(c.Cardinality()); code++ {
			if text := c.TextOf(code); !slices.Contains(present, text) {
				lost = append(lost, strings.Clone(text))
			}
		}
	}
	if lost == nil {
		return nil
	}
	slices.Sort(lost)
	return fmt.Errorf("table %s has no row any more of %s; --allow-shrink=%s accepts it",
		th.table.name, someOf(slices.Compact(lost), mostNames), th.role)
}

// compareRows reports the roles without a row, and what tables have lost since the last snapshot.
func (l *load) compareRows(r *result) {
	for _, t := range r.report.Tables {
		role := roleOf(t.Table)
		if t.Rows == 0 && (IsDataRole(role) || t.Table == "dataset" || slices.Contains(joinedLists, themeOf(role))) &&
			!slices.Contains(l.opts.AllowEmpty, role) {
			r.report.Empty = append(r.report.Empty, role)
		}
		old, ok := l.previous.table(t.Table)
		if !ok || old.SHA256 == t.SHA256 {
			continue
		}
		l.compareTexts(r, old)
		fall := Fall{Table: t.Table, Before: old.Rows, Rows: t.Rows}
		fall.Allowed = l.opts.mayShrink(role) ||
			role == catalogfile.PackageRole && l.opts.packagesMayShrink()
		if role != catalogfile.PackageRole {
			l.compareParts(r, old, &fall)
		}
		if fall.Rows < fall.Before || len(fall.Countries) > 0 {
			r.report.Fell = append(r.report.Fell, fall)
		}
	}
	slices.Sort(r.report.Odd)
}

// compareFiles adds a fault to a file for each country of which more rows are misplaced than
// before, or the last row at a unit is. Counts of a role that were not made before are only summed
// up.
func (l *load) compareFiles(r *result) {
	var first []string
	for _, f := range r.report.Resources {
		if r.report.keepsTable(f.Role) { // its rows may lack the list of their places
			continue
		}
		var before map[string]MisplacedRows
		counted, was := false, l.previous.state.Roles[f.Role].Files
		for _, old := range was {
			counted = counted || old.Report.Misplaced != nil
			if f.isOf(old, len(was) == 1 && len(l.catalog.files[f.Role]) == 1) {
				before = old.Report.Misplaced
			}
		}
		var countries []string
		for _, country := range slices.Sorted(maps.Keys(f.Misplaced)) {
			switch now, old := f.Misplaced[country], before[country]; {
			case !counted:
				countries = append(countries, fmt.Sprintf("%s %d", country, max(now.UnknownCodes, now.AboveLevel)))
			case now.grewFrom(old), now != old && l.lostUnits(r, f.Role, country):
				f.Faults = append(f.Faults, fmt.Sprintf("more rows are above their unit: %s: %s; before: %s; "+
					"compare their codes with the list of units", country, now, old))
			}
		}
		if len(countries) > 0 {
			first = append(first, f.Path+": "+strings.Join(countries, ", "))
		}
	}
	if slices.Sort(first); len(first) > 0 {
		r.report.Summary = "rows above their unit, counted for the first time: " + strings.Join(first, "; ")
	}
}

// lostUnits reports whether a table made of a role had rows at units of a country, and has none any
// more.
func (l *load) lostUnits(r *result, role, country string) bool {
	atUnit := func(e available) bool {
		return e.locationCode == country && e.code1 != "" && !strings.HasSuffix(e.code1, placeholderSuffix)
	}
	for _, th := range dataThemes {
		name := th.table.name
		if th.role != role && !slices.Contains(th.joins(), role) || slices.ContainsFunc(r.available[name], atUnit) {
			continue
		}
		before, _ := l.previous.available(name) // nothing to compare with in a damaged store
		if slices.ContainsFunc(before, atUnit) {
			return true
		}
	}
	return false
}

// listTexts are the tables of which compareTexts compares texts and flags: the key, and these.
var listTexts = map[string][]string{
	"dataset":  {"dataset_catalog_id", "dataset_catalog_stub", "dataset_catalog_title", "catalog_provider_name"},
	"resource": {"resource_catalog_id", "name", "format"},
	"location": {"code", "name", "has_hrp", "in_gho"}, "admin1": {"code", "name"},
	"admin2":   {"code", "name", "admin1_code"},
	"org_type": {"code", "description"}, "sector": {"code", "name"}, "currency": {"code", "name"},
	"commodity": {"code", "name"}, "market": {"code", "name"},
}

// compareTexts names the entries of a list that have another text or flag than before.
func (l *load) compareTexts(r *result, old store.SegmentRef) {
	columns := listTexts[old.Table]
	if columns == nil {
		return
	}
	was, err := l.previous.dataOf(old, columns...)
	now, nowErr := l.previous.dataOf(r.segments[old.Table], columns...)
	if err != nil || nowErr != nil {
		return // a damaged store must not stop the load that repairs it
	}
	for _, name := range columns[1:] {
		before := map[string]string{} // by key
		for row := range was.Rows {
			before[rowText(was, columns[0], row)] = textOrFlag(was, name, row)
		}
		var changed []string
		for row := range now.Rows {
			key, text := rowText(now, columns[0], row), textOrFlag(now, name, row)
			if from, listed := before[key]; listed && from != text {
				changed = append(changed, fmt.Sprintf("%s: %q, was %q", key, clip(text, 100), clip(from, 100)))
			}
		}
		if slices.Sort(changed); changed != nil {
			r.report.odd("%s of %s has changed: %s", name, old.Table, someOf(changed, mostNames))
		}
	}
}

func textOrFlag(data *snapshot.TableData, name string, row int) string {
	if c, at := cellOf(data, name, row); c.Kind == snapshot.Bool {
		return strconv.FormatBool(c.Ints[at] == 1)
	}
	return rowText(data, name, row)
}

// unsaid are the reasons of rows that are kept and only counted: compareFiles says when those above
// their unit grow, the providers of some lists mix groups, and the others lose nothing.
var unsaid = []reason{unknownCode, aboveLevel, otherParent, noErrorWord, duplicateRow, otherList}

// Losses are the lines about what the snapshot lacks, has in an older form, or may have wrong.
func (r *Report) Losses() (lines []string) {
	var all []Reason
	named := map[string]bool{} // roles of which the line about no rows has the first refusal
	for _, f := range r.Refused {
		reason := Reason{"refused: ", f.Path + ": ", strings.TrimPrefix(f.Why, f.Path+": ")}
		if strings.Contains(reason.Why, f.Path) {
			reason.Path = ""
		}
		keepsTable := func(s Stale) bool { return strings.HasSuffix(s.Why, f.Why) } // whose line has it
		if (named[f.Role] || !slices.Contains(r.Empty, f.Role)) && !slices.ContainsFunc(r.Stale, keepsTable) {
			all = append(all, reason)
		}
		named[f.Role] = true
	}
	for _, s := range r.Stale {
		since := fmt.Sprintf("stale since %s: ", s.Since.Format("2006-01-02T15:04:05Z"))
		all = append(all, Reason{since, s.Path + ": ", s.Why})
	}
	lines = ByReason(all)
	var empty []string
	for _, role := range r.Empty {
		if i := slices.IndexFunc(r.Refused, func(f Refusal) bool { return f.Role == role }); i >= 0 {
			// --allow-empty does not mend this
			lines = append(lines, fmt.Sprintf("no rows: %s; refused: %s", role, r.Refused[i].Why))
		} else {
			empty = append(empty, role)
		}
	}
	if len(empty) > 0 {
		lines = append(lines, fmt.Sprintf("no rows: %s; where that is meant, --allow-empty %s",
			strings.Join(empty, ", "), strings.Join(empty, ",")))
	}
	for _, f := range r.Fell {
		lines = append(lines, "fewer rows: "+f.String())
	}
	for _, text := range r.Changed[:min(len(r.Changed), mostNames)] {
		lines = append(lines, "large change: "+text)
	}
	if more := len(r.Changed) - mostNames; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s more", countOf(more, "large change")))
	}
	for _, t := range r.Tables {
		if d := t.Duplicates; d.Different > 0 {
			lines = append(lines, fmt.Sprintf("duplicate rows: %s: %s with other values than the one kept, first: %s",
				t.Table, countOf(d.Different, "row"), d.Examples[0]))
		}
		if d := t.Duplicates; d.Same != "" && 10*d.Identical > t.Rows { // files may overlap at their edges
			lines = append(lines, fmt.Sprintf("note: duplicate rows: %s: %s equal to the one kept, first: %s; "+
				"one of two files may be an older copy, with rows that its source has withdrawn",
				t.Table, countOf(d.Identical, "row"), d.Same))
		}
		for _, o := range t.OddTexts {
			lines = append(lines, fmt.Sprintf("note: kept: odd characters in %s of %s: %s, first: %q",
				o.Column, t.Table, countOf(o.Rows, "row"), o.First))
		}
	}
	for _, f := range r.Resources {
		for _, fault := range f.Faults {
			lines = append(lines, fmt.Sprintf("fault: %s: %s", f.Path, fault))
		}
		for _, why := range reasons(f.Drops) {
			if e := f.Drops[why]; !e.ByRule {
				lines = append(lines, fmt.Sprintf("dropped: %d × %s, first: %s", e.Count, why, e.First[0]))
			}
		}
		if !r.keepsTable(f.Role) {
			lines = append(lines, f.keptLines()...)
		}
	}
	for _, text := range slices.Concat(r.Odd, []string{r.Summary}) {
		if text != "" {
			lines = append(lines, "note: "+text)
		}
	}
	return lines
}

// keptLines are the lines about rows that are kept and odd.
func (r *ResourceReport) keptLines() (lines []string) {
	for _, why := range reasons(r.Oddities) {
		if e := r.Oddities[why]; !slices.Contains(unsaid, reason(why)) {
			lines = append(lines, fmt.Sprintf("note: kept: %d × %s, first: %s", e.Count, why, e.First[0]))
		}
	}
	return lines
}

// Counts are the rows that were dropped or are noteworthy, by reason, the faults of files, and what
// differs from the snapshot before. Rows that are left out by rule are not in it.
func (r *Report) Counts() map[string]int {
	counts := map[string]int{
		string(duplicateRow): 0, "fault_in_a_file": 0, "changed_figure": len(r.Changed),
		"list_without_rows": len(r.Empty), "stale_source": len(r.Stale), "table_fell": 0,
	}
	for _, f := range r.Fell {
		if f.matters() {
			counts["table_fell"]++
		}
	}
	for _, f := range r.Resources {
		counts["fault_in_a_file"] += len(f.Faults)
		for why, e := range f.Drops {
			if !e.ByRule {
				counts[why] += e.Count
			}
		}
		for why, e := range f.Oddities {
			counts[why] += e.Count
		}
	}
	for _, t := range r.Tables {
		counts[string(duplicateRow)] += t.Duplicates.Different
	}
	return counts
}

// Reason is why a file is not used as it is now.
type Reason struct{ What, Path, Why string }

// anyLink is what differs between the reasons of files that have the same fault.
var anyLink = regexp.MustCompile(`https?://[^\s"]+`)

// ByReason returns one line for each reason: a site that refuses every file gives one, not
// hundreds.
func ByReason(all []Reason) (lines []string) {
	files := map[string]int{}
	key := func(r Reason) string { return r.What + anyLink.ReplaceAllString(r.Why, "") }
	for _, r := range all {
		files[key(r)]++
	}
	for _, r := range all {
		n := files[key(r)]
		if n > 1 {
			r.Path = fmt.Sprintf("%d files, the first %s", n, r.Path)
		}
		if n > 0 {
			lines = append(lines, r.What+r.Path+r.Why)
		}
		files[key(r)] = 0
	}
	return lines
}

// countFiles compares the files that the catalog lists with those that were read. One that was left
// out without a word is refused.
func (l *load) countFiles(r *result) {
	report, count := r.report, &r.report.Files
	named := map[string]bool{} // paths of files, and roles of which the last good form is used
	for _, f := range report.Resources {
		named[f.Path] = true
		if f.Role != catalogfile.PackageRole {
			count.Read++
		}
	}
	for _, f := range report.Refused {
		named[f.Path] = true
	}
	for _, s := range report.Stale {
		named[s.Role] = true
	}
	for role, files := range l.catalog.files {
		count.Listed += len(files)
		for _, f := range files {
			if !named[f.path] && !named[role] {
				report.refuse(role, f.path, errors.New("listed and not read, which is a fault of this program"))
			}
		}
	}
	report.Refused = append(report.Refused, l.catalog.unread...)
	count.Refused, count.Unread = count.Listed-count.Read, len(l.catalog.unread)
	if f := l.opts.Fetched; f != nil {
		for _, s := range f.Sources {
			if s.State == SourceRefused && s.Role == "" {
				count.Unread++
				report.refuse("", s.Path, errors.New(s.Why))
			}
		}
		if f.Linked > 0 && f.Linked != l.catalog.listed {
			report.refuse("", catalogfile.Name, fmt.Errorf("%d files were written for it, and it lists %d", f.Linked,
				l.catalog.listed))
		}
	}
}
