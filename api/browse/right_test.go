package browse

import (
	"slices"
	"strings"
	"testing"

	"hdqs/api/contract"
	"hdqs/api/say"
	"hdqs/api/textual"
	"hdqs/internal/testkit"
)

// oddPlaces answers sums of records of some countries, and refuses those with an odd one.
type oddPlaces struct {
	places, odd []string
	asked       int
}

func (o *oddPlaces) Ask(q *contract.Question) (*Answer, error) {
	o.asked++
	places := o.places
	if list := q.Texts("location_code" + contract.SeveralSuffix); list != nil {
		places = list
	}
	measure := q.Endpoint().MeasureName(q.Measures[0])
	right := slices.DeleteFunc(slices.Clone(places), func(place string) bool { return slices.Contains(o.odd, place) })
	if measure != "count" && len(right) < len(places) {
		var instead *contract.Question
		if len(right) > 0 {
			instead = q.Copy().Keep(q.Apart+contract.SeveralSuffix, right...)
		}
		issue := contract.WrongSum("measures", say.Of("It counts twice."), "/", instead)
		return nil, &contract.Invalid{Issues: []contract.Issue{issue}}
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

// TestRightSum checks that a sum leaves out the countries that make it wrong and no others.
func TestRightSum(t *testing.T) {
	t.Parallel()
	places := []string{"AFG", "COD", "MLI", "NGA", "SDN", "SOM", "TCD", "UKR", "YEM"}
	for _, odd := range [][]string{
		nil, {"AFG"}, {"SDN"}, {"YEM"}, {"AFG", "COD", "NGA"}, {"COD", "SOM", "YEM"}, places,
	} {
		o := &oddPlaces{places: places, odd: odd}
		e := contract.EndpointOf("conflict_event", contract.ContractNames)
		s := &rightSum{
			q: &Question{Plan: contract.NewPlan(e, contract.Rows), Source: o}, asked: contract.Ask(e, contract.Rows),
			fields: []string{"location_code"}, measures: []string{"sum:fatalities"},
		}
		testkit.Must(t, s.read())
		var right []string
		for _, row := range s.rows {
			right = append(right, row.fields[0])
		}
		if isRefused := len(odd) == len(places); isRefused != (len(s.refused) > 0) || isRefused && right != nil {
			t.Errorf("with %v it is refused: %q", odd, s.refused)
		} else if all := slices.Sorted(slices.Values(slices.Concat(right, s.left))); !isRefused &&
			(!slices.Equal(s.left, odd) || !slices.Equal(all, places)) {
			t.Errorf("%v are left out, and the sum is of %v; want %v left out", s.left, right, odd)
		}
		if o.asked > 3 {
			t.Errorf("%d questions with %v", o.asked, odd)
		}
	}
}
