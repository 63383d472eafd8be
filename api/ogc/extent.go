package ogc

import (
	"encoding/json"
	"net/url"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
)

// span is where and when the rows of a list are; nil and empty without a place or time.
type span struct {
	West  *float64 `json:"min_lon"`
	South *float64 `json:"min_lat"`
	East  *float64 `json:"max_lon"`
	North *float64 `json:"max_lat"`
	First string   `json:"min_reference_period_start"`
	Last  string   `json:"max_reference_period_end"`
}

// spanOf finds the span of a list, once a snapshot. It is empty where that fails, which is logged.
func (a *request) spanOf(e *contract.Endpoint) (x span) {
	v, err := a.AcquireFor("")
	if err != nil {
		return x
	}
	defer v.Release(a.Log)
	x, _ = list.MadeOf(a.Lists, v, e, func() (x span, err error) {
		var measures []string
		if e.HasPoints() {
			measures = append(measures, "min:lat", "max:lat", "min:lon", "max:lon")
		}
		if e.HasField(contract.PeriodStart) {
			measures = append(measures, "min:"+contract.PeriodStart, "max:"+contract.PeriodEnd)
		}
		to := a.mount.Lists[list.ListKey{Endpoint: e, Kind: contract.Aggregate}]
		query := url.Values{"measures": {strings.Join(measures, ",")}}
		err = a.QueryAll(v, &to, query, func(found list.Records) {
			all := struct{ Data []*span }{[]*span{&x}}
			err = json.Unmarshal(list.AppendRecords(nil, found, false), &all)
		})
		return x, err
	})
	return x
}

// extentOf is where and when the features of a collection are: the time of a figure is within that
// of the rows that it is made of. What is not known is left out.
func (a *request) extentOf(c *collection) object {
	extent, boxes := object{}, c.boxes
	if c.endpoint != nil {
		e := c.endpoint
		if c.level != ofList {
			e = e.Headline.List(contract.HAPINames)
		}
		x := a.spanOf(e)
		if c.level == ofList && x.West != nil && x.South != nil {
			boxes = [][4]float64{{*x.West, *x.South, *x.East, *x.North}}
		}
		if x.First != "" && c.hasTime() {
			interval := [2]any{x.First + "Z"}
			if x.Last != "" {
				interval[1] = x.Last + "Z"
			}
			extent["temporal"] = object{
				"interval": [][2]any{interval}, "trs": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian",
			}
		}
	}
	if boxes != nil {
		extent["spatial"] = object{"bbox": boxes, "crs": crs84}
	}
	return extent
}
