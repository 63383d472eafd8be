package browse

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/api/textual"
)

// oddPlaces answers sums of records of some countries, and refuses those with an odd one.
type oddPlaces struct {
	places, odd []string
	kept        map[string][]string
	asked       int
	refused     int // questions for records
}

func (o *oddPlaces) Ask(q *contract.Question) (*Answer, error) {
	o.asked++
	places := o.places
	if list := q.Texts("location_code" + contract.SeveralSuffix); list != nil {
		places = list
	}
	measure := q.Endpoint().MeasureName(q.Measures[0])
	isOdd := func(place string) bool { return slices.Contains(o.odd, place) }
	if measure != "count" && slices.ContainsFunc(places, isOdd) {
		if q.Trial != (q.Limit == 0) {
			return nil, errors.New("a question for no records is a trial, and no other")
		}
		if q.Limit != 0 {
			o.refused++
		}
		return nil, &contract.Invalid{Issues: []contract.Issue{{Text: say.Of("It counts twice.")}}}
	}
	fields := []string{"location_code", strings.ReplaceAll(measure, ":", "_")}
	records := textual.New(min(q.Limit, len(places)), fields, func(dst []byte, record, field int) ([]byte, bool) {
		if field == 0 {
			return append(dst, places[record]...), true
		}
		return append(dst, '7'), true
	})
	return &Answer{Records: records, Total: len(places)}, nil
}

func (o *oddPlaces) Keep(key string, find func() ([]string, error)) ([]string, error) {
	if known, ok := o.kept[key]; ok {
		return known, nil
	}
	found, err := find()
	o.kept[key] = found
	return found, err
}

// TestRightSum checks that a sum leaves out the countries that make it wrong and no others, also
// where they are known from an earlier page.
func TestRightSum(t *testing.T) {
	t.Parallel()
	places := []string{"AFG", "COD", "MLI", "NGA", "SDN", "SOM", "TCD", "UKR", "YEM"}
	for _, odd := range [][]string{
		nil, {"AFG"}, {"SDN"}, {"YEM"}, {"AFG", "COD", "NGA"}, {"COD", "SOM", "YEM"}, places,
	} {
		o := &oddPlaces{places: places, odd: odd, kept: map[string][]string{}}
		e := contract.EndpointOf("conflict_event", contract.ContractNames)
		q := &Question{Plan: contract.NewPlan(e, contract.Rows), Source: o}
		for again := range 3 {
			given := contract.Ask(e, contract.Rows)
			if again == 2 {
				given.Keep("start_date", "2024")
			}
			s := &rightSum{
				q: q, isAll: again < 2, asked: given, fields: []string{"location_code"},
				measures: []string{"sum:fatalities"},
			}
			before := o.asked
			if err := s.read(); err != nil {
				t.Fatal(err)
			}
			var right []string
			for _, row := range s.rows {
				right = append(right, row.fields[0])
			}
			if all := slices.Sorted(slices.Values(slices.Concat(right, s.left))); !slices.Equal(s.left, odd) ||
				!slices.Equal(all, places) {
				t.Errorf("%v are left out, and the sum is of %v; want %v left out", s.left, right, odd)
			}
			if refused := len(odd) == len(places); refused != (len(s.refused) > 0) {
				t.Errorf("with %v it is refused: %q", odd, s.refused)
			}
			if o.refused > again+1 {
				t.Errorf("with %v, %d questions for records are refused in %d pages", odd, o.refused, again+1)
			}
			if asked := o.asked - before; again == 1 && asked > 3 {
				t.Errorf("%d questions where %v are known", asked, odd)
			}
		}
	}
}
