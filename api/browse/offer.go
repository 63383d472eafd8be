package browse

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// A reader who chooses by what a figure is drawn has not chosen the level, the edition and the
// totals that make its sums right. The choice brings them: where the records of an address cannot
// be added up so, the figure is of those that can, and says which. What no records make right is
// not offered.

// trial is what a measure by something comes to for the records of a page.
type trial struct {
	at      state // the page of exactly these records
	answer  *Answer
	several []bool // groups whose records have several values of a rate
	issues  []contract.Issue
	places  int // groups with a name and a figure, counted up to leastDrawn
}

// draws reports whether there is something to draw.
func (t *trial) draws() bool { return len(t.issues) == 0 && t.places > 0 }

// drawnOf is the measure that the address asks for, and by what. There is no by where the list has
// nothing to draw by.
func (q *Question) drawnOf(s state) (measure, *by) {
	measures, bys := measuresOf(q.Language, q.Plan.Endpoint), bysOf(q, s)
	if len(bys) == 0 {
		return measure{}, nil
	}
	isAsked := func(m measure) bool { return m.name == s.values.Get(measureParam) }
	m := measures[max(0, slices.IndexFunc(measures, isAsked))]
	return m, &bys[max(0, slices.IndexFunc(bys, func(b by) bool { return b.value == s.values.Get(byParam) }))]
}

// reading is a page with the question of its address. It is not ok if the address has errors.
func (q *Question) reading(at state) (state, bool) {
	r, err := contract.Read(q.Plan, at.query())
	at.asked, at.language = &r.Question, q.Language
	return at, err == nil
}

// try draws the records of a page as they are. A page asks once for the same.
func (q *Question) try(at state, m measure, b *by) (*trial, error) {
	request, most := m.requests()
	asked := at.asked.As(contract.Aggregate).GroupBy(b.fields...).Measure(request...)
	key := asked.Text()
	if known := q.known.trials[key]; known != nil {
		t := *known
		t.at = at
		return &t, nil
	}
	t := &trial{at: at}
	answer, err := q.Source.Ask(asked)
	issues, isWrong := Problems(err)
	if err != nil && !isWrong {
		return nil, err
	}
	if t.answer, t.issues = answer, issues; answer != nil {
		t.count(m, b, most)
	}
	if place := SummedPlace(at.asked, b.fields...); t.draws() && m.function == only && place != "" {
		found, _, err := q.groups(at.asked, nil, "distinct:"+place)
		if err != nil {
			return nil, err
		}
		if found[0].Value("distinct_"+place) != "1" { // a group of one country would look like one of all
			t.issues = severalValues(m, "Choose a country, a time, or fewer values.")
		}
	}
	if q.known.trials == nil {
		q.known.trials = map[string]*trial{}
	}
	q.known.trials[key] = t
	return t, nil
}

// count looks at the groups of an answer. most is the field of the greatest figure of several that
// must be the same.
func (t *trial) count(m measure, b *by, most string) {
	if len(t.answer.Records) < t.answer.Total {
		t.issues = append(t.issues, tooManyGroups(t.answer.Total))
		return
	}
	named, several, field := map[string]bool{}, 0, m.field()
	t.several = make([]bool, len(t.answer.Records))
	for i, r := range t.answer.Records {
		figure, name := r.Value(field), r.Value(b.fields[0])
		if text, ok := r.Text(most); ok && figure != "" && text != figure {
			t.several[i] = true
			several++
		} else if len(named) < leastDrawn && figure != "" && name != "" && !contract.IsPlaceholder(name) {
			named[name] = true
		}
	}
	if t.places = len(named); several > 0 && several == len(t.several) {
		t.issues = severalValues(m, "Choose a level, and only the newest edition.")
	}
}

// severalValues refuses to draw a rate of which the records of a group have several values.
func severalValues(m measure, choose string) []contract.Issue {
	return []contract.Issue{{Text: say.Join(
		say.Of("%s: the records have several values, which are not added up or averaged.", m.label), say.Of(choose))}}
}

// right draws the records of a page, or where their sums would be wrong, records of the level that
// the choice is by, of the newest edition, and of the totals that the interface names. The trial is
// of the page's own records if none of these draws anything.
func (q *Question) right(s state, m measure, b *by) (*trial, error) {
	own, err := q.try(s, m, b)
	if total := totalOf(q.Plan.Endpoint, b.value); total != "" && slices.Equal(s.values[b.value], []string{total}) {
		if parts, ok := q.reading(s.set(b.value, "")); ok { // by age drops "all ages"
			s = parts
		}
	} else if err != nil || own.draws() {
		return own, err
	}
	levels := [][]string{nil}
	if param := q.Plan.Param(levelParam); param != nil {
		switch {
		case b.level > 0:
			levels = [][]string{{levelParam, strconv.Itoa(b.level)}, nil}
		case param.Takes(contract.Coarsest):
			levels = append(levels, []string{levelParam, contract.Coarsest})
		}
	}
	for _, level := range levels {
		for _, more := range [][]string{nil, {latestParam, contract.LatestEdition}} {
			if len(more) > 0 && q.Plan.Endpoint.Edition == nil {
				continue
			}
			at, ok := q.reading(s.set(append(slices.Clone(level), more...)...))
			if !ok {
				continue
			}
			t, err := q.try(at, m, b)
			if err != nil || t.draws() {
				return t, err
			}
			if at, ok = q.instead(t, b); !ok {
				continue
			}
			if t, err = q.try(at, m, b); err != nil || t.draws() {
				return t, err
			}
		}
	}
	return own, nil
}

// instead is the page of the records that a refusal names, if it names groups as they are drawn.
func (q *Question) instead(t *trial, b *by) (state, bool) {
	if len(t.issues) == 0 || t.issues[0].Instead == nil {
		return state{}, false
	}
	right := t.issues[0].Instead
	if !slices.Equal(right.GroupNames(), b.fields) {
		return state{}, false
	}
	at := t.at.set()
	for _, name := range names(q.Plan) {
		delete(at.values, name)
	}
	return q.reading(at.set(right.Pairs()...))
}

// totalOf is the value of a field that counts what its other values count, empty without one.
func totalOf(e *contract.Endpoint, field string) string {
	for i := range e.Dimensions {
		if d := &e.Dimensions[i]; e.Names().Name(d.Field) == field {
			return d.Keep
		}
	}
	return ""
}

// brought says in words in which filters drawn records differ from those of the address.
func (q *Question) brought(s, drawn state) (all []link) {
	own, pairs := map[string]string{}, s.asked.Pairs()
	for i := 0; i < len(pairs); i += 2 {
		own[pairs[i]] = pairs[i+1]
	}
	said := func(name, value string) string {
		return chipText(q.Language, q.known.named, q.Plan.Param(name), []string{value})
	}
	pairs = drawn.asked.Pairs()
	for i := 0; i < len(pairs); i += 2 {
		name, value := pairs[i], pairs[i+1]
		before, had := own[name]
		delete(own, name)
		switch {
		case !had:
			all = append(all, link{Text: said(name, value)})
		case before != value:
			text := q.Language.T("%[1]s, in place of: %[2]s", said(name, value), said(name, before))
			all = append(all, link{Text: text})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		all = append(all, link{Text: q.Language.T("each value of: %s", nounLabel(q.Language, name))})
	}
	return all
}

// turned is what draws the records of a page: what it asks for, else by something else. Where
// nothing does, the trial is of what it asks for. The newest round of each place is of another
// time, so that it is drawn over time only where nothing else is right. Where the page asks for
// nothing, one bar is drawn only where nothing has more.
func (q *Question) turned(s state, m measure, b *by) (*by, *trial, error) {
	isRound := func(t *trial, b *by) bool {
		return b.as == overTime && t.at.values.Get(latestParam) != s.values.Get(latestParam)
	}
	own, err := q.right(s, m, b)
	if err != nil {
		return nil, nil, err
	}
	isRight := own.draws() && !isRound(own, b)
	isEnough := isRight && (own.places >= leastDrawn || s.values.Has(byParam))
	if isEnough || len(own.issues) == 0 && !own.draws() {
		return b, own, nil
	}
	bys := bysOf(q, s)
	for i := range bys {
		t, err := q.right(s, m, &bys[i])
		if err != nil {
			return nil, nil, err
		}
		isBetter := t.draws() && t.places >= leastDrawn && !isRound(t, &bys[i])
		if isBetter && (!isRight || bys[i].value != levelParam) {
			return &bys[i], t, nil
		}
	}
	refused, err := q.try(s, m, b)
	if err != nil || isRight || len(refused.issues) == 0 {
		return b, own, err
	}
	each, t, err := q.apart(refused, m)
	switch {
	case err != nil || each == nil || !t.draws():
		return b, own, err
	case q.AllFigures: // files have no name for it
		return b, refused, nil
	}
	return each, t, nil
}

// apart draws what a refusal says is not added up: each combination of the values of the fields by
// which it groups. There is no by where it names none.
func (q *Question) apart(refused *trial, m measure) (*by, *trial, error) {
	request, _ := m.requests()
	right := refused.issues[0].Instead
	if right == nil || !slices.Equal(right.MeasureNames(), request) {
		return nil, nil, nil
	}
	at, ok := q.reading(refused.at.only(func(string) bool { return false }).set(right.Pairs()...))
	if !ok {
		return nil, nil, nil
	}
	b := q.each(right.GroupNames())
	t, err := q.try(at, m, b)
	if err != nil || t.answer == nil {
		return b, t, err
	}
	isPeriod := func(name string) bool { return name == "month" || name == "year" }
	isTold := func(name string) bool { // one time or country, which the title says
		values := map[string]bool{}
		for _, r := range t.answer.Records {
			values[r.Value(name)] = true
		}
		isCountry := name == contract.CountryParam || name == "location_name"
		return len(values) == 1 && (isCountry || isPeriod(name))
	}
	if fields := slices.DeleteFunc(slices.Clone(b.fields), isTold); len(fields) > 0 && len(fields) < len(b.fields) {
		others := q.each(fields)
		if told, err := q.try(at, m, others); err != nil {
			return nil, nil, err
		} else if told.draws() {
			b, t = others, told
		}
	}
	if first := b.fields[0]; isPeriod(first) {
		seen := map[string]bool{}
		for _, r := range t.answer.Records {
			seen[joined(q.wordsOf(r, append(b.lines(), first)))] = true
		}
		if len(seen) == len(t.answer.Records) {
			b.value, b.as = first, overTime
		}
	}
	return b, t, nil
}

// each is each combination of the values of fields.
func (q *Question) each(fields []string) *by {
	var labels []string
	for _, field := range fields {
		labels = append(labels, byWords(q.Language, field))
	}
	labels = slices.Compact(labels) // a code and its name
	return &by{fields: fields, each: true, label: q.Language.List(labels)}
}

// lines are the fields of which each combination of values is a line over time: not the days.
func (b *by) lines() []string {
	return slices.DeleteFunc(slices.Clone(b.fields[1:]), func(name string) bool { return name == contract.PeriodStart })
}

// joined are several values as one text.
func joined(words []string) string { return strings.Join(words, ", ") }

// wordsOf are the values of fields in words.
func (q *Question) wordsOf(r textual.Record, fields []string) (words []string) {
	for i, field := range fields {
		if i > 0 && field == strings.Replace(fields[i-1], "_code", "_name", 1) { // the code is shown as it
			continue
		}
		value := r.Value(field)
		name := q.known.named[field][value]
		if name == "" {
			name, _ = worded(q.Language, field, shortTime(value))
		}
		words = append(words, cmp.Or(name, q.Language.T("not given")))
	}
	return words
}

// leastDrawn is how many groups a choice must have to be offered: one bar compares nothing.
const leastDrawn = 2

// offer adds a form that draws another measure, or by something else, of the records of an address:
// those that draw something.
func (x *figure) offer(q *Question, s state, m measure, b *by) error {
	for _, other := range measuresOf(q.Language, q.Plan.Endpoint) {
		if other.name != m.name && other.name != countMeasure {
			if t, err := q.right(s, other, b); err != nil || !t.draws() {
				if err != nil {
					return err
				}
				continue
			}
		}
		x.Form.Measures = append(x.Form.Measures, option{other.name, other.label, other.name == m.name})
	}
	for _, other := range bysOf(q, s) {
		if other.value != b.value {
			if t, err := q.right(s, m, &other); err != nil || !t.draws() || t.places < leastDrawn {
				if err != nil {
					return err
				}
				continue
			}
		}
		x.Form.Bys = append(x.Form.Bys, option{other.value, other.choice(q.Language), other.value == b.value})
	}
	x.Form.Keep = keptIn(s.copy(measureParam, byParam, spanParam))
	return nil
}

// isRight reports whether a page draws its own records.
func (q *Question) isRight(at state) (bool, error) {
	at, ok := q.reading(at)
	m, b := q.drawnOf(at)
	if !ok || b == nil {
		return false, nil
	}
	t, err := q.try(at, m, b)
	return err == nil && t.draws(), err
}
