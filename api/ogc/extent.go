package ogc

import (
	"encoding/json"

	"hdqs/aggregate"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/state"
)

// spanOf are the least and greatest values of the places and times of a list, found once a
// snapshot. It is empty where that fails, which is logged.
func (a *request) spanOf(e *contract.Endpoint) (span map[string]aggregate.Value) {
	err := a.service.lists.Within("", func(v *state.Served) (err error) {
		ask := func() (map[string]aggregate.Value, error) { return a.service.askSpan(v, e) }
		span, err = list.MadeOf(a.service.lists.Lists, v, e, ask)
		return err
	})
	if err != nil {
		return nil
	}
	return span
}

// askSpan asks for the least and greatest values.
func (s *Service) askSpan(v *state.Served, e *contract.Endpoint) (map[string]aggregate.Value, error) {
	var measures []string
	for _, name := range []string{contract.LonField, contract.LatField, contract.PeriodStart, contract.PeriodEnd} {
		if e.HasField(name) {
			measures = append(measures, "min:"+name, "max:"+name)
		}
	}
	to := s.lists.Mount.Lists[list.ListKey{Endpoint: e, Kind: contract.Aggregate}]
	found := map[string]aggregate.Value{}
	q := contract.Ask(e, contract.Aggregate).Measure(measures...)
	err := s.lists.QueryAll(v, &to, q, func(all list.Valued) {
		for i, f := range all.Fields() {
			found[f.Name] = all.Value(0, i)
		}
	})
	return found, err
}

// extentOf is where and when the features of a collection are: the time of a figure is within that
// of the rows that it is made of. What is not known is left out.
func (a *request) extentOf(c *collection) object {
	extent := object{}
	if c.box != nil {
		extent["spatial"] = object{"bbox": [][4]any{*c.box}, "crs": crs84}
	}
	if c.endpoint == nil {
		return extent
	}
	e := c.endpoint
	if c.level != ofList {
		e = e.Headline.List(contract.HAPINames)
	}
	span := a.spanOf(e)
	has := func(name string) bool { return span[name].Kind != aggregate.Null }
	if c.level == ofList && has("min_lon") && has("min_lat") {
		var box [4]any
		for i, name := range []string{"min_lon", "min_lat", "max_lon", "max_lat"} {
			box[i] = span[name].Number()
		}
		extent["spatial"] = object{"bbox": [][4]any{box}, "crs": crs84}
	}
	var interval [2]any
	for i, name := range []string{"min_" + contract.PeriodStart, "max_" + contract.PeriodEnd} {
		if has(name) {
			interval[i] = json.RawMessage(render.AppendZoned(nil, span[name].Int))
		}
	}
	if interval[0] != nil {
		extent["temporal"] = object{"interval": [][2]any{interval}}
	}
	return extent
}
