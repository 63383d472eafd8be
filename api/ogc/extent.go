package ogc

import (
	"encoding/json"
	"slices"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/state"
)

// ends are the measures that say where and when the rows of a list are.
var ends = []string{
	"min:" + contract.LonField, "min:" + contract.LatField, "max:" + contract.LonField, "max:" + contract.LatField,
	"min:" + contract.PeriodStart, "max:" + contract.PeriodEnd,
}

// span are the values of ends as JSON has them, nil where there is none.
type span [6]any

// spanOf is the span of a list, found once a snapshot. It is empty where that fails, which is
// logged.
func (a *request) spanOf(e *contract.Endpoint) (found span) {
	_ = a.service.lists.Within(a.ctx, "", func(v *state.Served) (err error) {
		found, err = list.MadeOf(v, e, func() (span, error) { return a.service.askSpan(v, e) })
		return err
	})
	return found
}

// askSpan asks for the least and greatest values.
func (s *Service) askSpan(v *state.Served, e *contract.Endpoint) (found span, err error) {
	measures := slices.DeleteFunc(slices.Clone(ends), func(m string) bool { return !e.HasField(m[len("min:"):]) })
	q := contract.Ask(e, contract.Aggregate).Measure(measures...)
	err = s.lists.QueryAll(v, q, func(all list.Valued) {
		for i, m := range measures {
			switch v := all.Value(0, i); v.Kind {
			case aggregate.Null:
			case aggregate.Time:
				found[slices.Index(ends, m)] = json.RawMessage(render.AppendZoned(nil, v.Int))
			default:
				found[slices.Index(ends, m)] = v.Number()
			}
		}
	})
	return found, err
}

// extentOf is where and when the features of a collection are: the time of a figure is within that
// of the rows that it is made of. What is not known is left out.
func (a *request) extentOf(c *collection) object {
	extent, of, e := object{}, span{}, c.endpoint
	if e != nil && c.level != ofList {
		e = e.Headline.List(contract.HAPINames)
	}
	if e != nil {
		of = a.spanOf(e)
	}
	if c.box != nil {
		extent["spatial"] = object{"bbox": [][4]any{*c.box}, "crs": crs84}
	} else if of[0] != nil && of[1] != nil {
		extent["spatial"] = object{"bbox": [][]any{of[:4]}, "crs": crs84}
	}
	if of[4] != nil {
		extent["temporal"] = object{"interval": [][]any{of[4:]}}
	}
	return extent
}
