package ogc

import (
	"encoding/json"
	"net/url"
	"strings"

	"hdqs/api/contract"
	"hdqs/api/list"
)

// spanOf are the least and greatest values of the places and times of a list, found once a
// snapshot. It is empty where that fails, which is logged.
func (a *request) spanOf(e *contract.Endpoint) (span map[string]any) {
	v, err := a.service.state.Snapshots.AcquireFor("")
	if err != nil {
		return nil
	}
	defer v.Release(a.service.state.Log)
	span, _ = list.MadeOf(a.service.lists, v, e, func() (map[string]any, error) {
		var measures []string
		for _, name := range []string{contract.LonField, contract.LatField, contract.PeriodStart, contract.PeriodEnd} {
			if e.HasField(name) {
				measures = append(measures, "min:"+name, "max:"+name)
			}
		}
		to := a.service.mount.Lists[list.ListKey{Endpoint: e, Kind: contract.Aggregate}]
		all := struct{ Data []map[string]any }{[]map[string]any{nil}}
		query := url.Values{"measures": {strings.Join(measures, ",")}}
		err := a.service.lists.QueryAll(v, &to, query, func(found list.Records) {
			_ = json.Unmarshal(list.AppendRecords(nil, found, false), &all) // we wrote it
		})
		return all.Data[0], err
	})
	return span
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
	if c.level == ofList && span["min_lon"] != nil && span["min_lat"] != nil {
		box := [4]any{span["min_lon"], span["min_lat"], span["max_lon"], span["max_lat"]}
		extent["spatial"] = object{"bbox": [][4]any{box}, "crs": crs84}
	}
	if first, has := span["min_"+contract.PeriodStart].(string); has {
		interval := [2]any{first + "Z"}
		if last, has := span["max_"+contract.PeriodEnd].(string); has {
			interval[1] = last + "Z"
		}
		extent["temporal"] = object{"interval": [][2]any{interval}}
	}
	return extent
}
