package ogc

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/aggregate"
	"hdqs/api/boundary"
	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/render"
	"hdqs/api/state"
)

// area is a feature of a level: a place that has boundaries, a figure, or both.
type area struct {
	*boundary.Area        // without polygons where there are no boundaries
	figure         []cell // of the fields after those of all areas
	values         int    // 1 if the figure has a value
	first, last    int64  // microseconds of the figure's period; from and to any time where it has none
}

// cell is a value: a text, or else a number or flag as JSON writes it, empty for null.
type cell struct {
	text   string
	isText bool
}

// maxPoints ends a page of areas, so that it is some megabytes: the next link leads on.
const maxPoints = 200_000

// versionOf is a digest of boundaries: others have another one.
func versionOf(s *boundary.Set) string {
	h := fnv.New64a()
	for _, areas := range s.Areas {
		for i := range areas {
			fmt.Fprintf(h, "%q %q %v ", areas[i].Code, areas[i].Name, len(areas[i].Polygons))
			h.Write(boundary.AppendGeometry(nil, areas[i].Polygons))
		}
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// answerAreas answers with areas, or with the only one that is asked for by its code.
func (a *request) answerAreas(c *collection, o *options) error {
	snapshot, version, _ := strings.Cut(o.state, ".")
	if o.state != "" && version != a.service.version {
		return list.Faultf(fasthttp.StatusGone,
			"The boundaries were replaced. Begin again with the first page.")
	}
	return a.service.lists.Computed(a.ctx, snapshot, func(v *state.Served) error {
		all, err := list.MadeOf(v, c, func() ([]area, error) { return a.areasOf(v, c) })
		if err != nil {
			return err
		}
		state := v.Id + "." + a.service.version
		if a.sent.Has(contract.GroupParam) {
			of := v.Bound.Groups.Group(o.group)
			if of == nil {
				return invalid("there is no group of countries %s; %s lists those that there are", list.Quoted(o.group),
					contract.GroupsPath)
			}
			o.members = append([]string{}, of.Members...)
			if o.countries, err = a.service.countriesOf(v, c.level); err != nil {
				return err
			}
		}
		var rows []*area
		total := 0
		err = list.InTurns(a.ctx, func(pause func() error) error {
			rows, total, err = o.find(all, pause)
			return err
		})
		if err != nil {
			return err
		}
		if o.one && len(rows) == 0 {
			return list.NotFound("%s has no feature %s", c.id, list.Quoted(o.equal["code"]))
		}
		return a.sendAreas(c, o, rows, total, state)
	})
}

// find finds the areas of a page, and how many there are on all pages.
func (o *options) find(all []area, pause func() error) (rows []*area, total int, err error) {
	points := 0
	for i := range all {
		if err := pause(); err != nil {
			return nil, 0, err
		}
		x := &all[i]
		if !o.passes(x) {
			continue
		}
		if uint64(total) >= o.skip && len(rows) < o.limit && points < maxPoints {
			rows = append(rows, x)
			for _, p := range x.Polygons {
				for _, ring := range p {
					points += len(ring)
				}
			}
		}
		total++
	}
	return rows, total, nil
}

// sendAreas answers with the areas of a page.
func (a *request) sendAreas(c *collection, o *options, rows []*area, total int, state string) error {
	links := a.pageLinks(o, len(rows), total, state)
	pieces, caption := len(rows)+2, captionOf(len(rows), total)
	if o.one {
		links, pieces, caption = a.itemLinks(c), 1, captionOfOne
	}
	if a.html {
		p := a.pageOf(c, links, caption)
		for _, x := range rows {
			x.addTo(p)
		}
		return a.sendBody(nil, htmlType, *p)
	}
	piece := func(dst []byte, i int) []byte {
		switch {
		case o.one:
			dst = withLinks(rows[0].appendFeature(dst, c), links)
		case i == 0:
			dst = append(dst, before(len(rows), total, links)...)
		case i > len(rows):
			dst = append(dst, "]}"...)
		default:
			dst = rows[i-1].appendFeature(append(dst, ","[:min(i-1, 1)]...), c)
		}
		return dst
	}
	meaning := fmt.Appendf(nil, "ogc 2 %s %s %s %d %s %s", a.base, a.path, a.sent.Encode(), total, state, o.members)
	content, err := list.InPieces(a.ctx, meaning, pieces, piece)
	if err == nil {
		err = a.service.sender.Send(a.ctx, geoJSONType, content)
	}
	a.policy(&a.ctx.Response.Header)
	return err
}

// passes reports whether an area passes the filters.
func (o *options) passes(x *area) bool {
	for name, want := range o.equal {
		if got := map[string]string{"code": x.Code, "name": x.Name, "country": x.Country}[name]; got != want {
			return false
		}
	}
	if x.first >= o.next || x.last < o.from {
		return false
	}
	if country := cmp.Or(o.countries[x.Code], x.Country, x.Code); o.members != nil &&
		!slices.Contains(o.members, country) {
		return false
	}
	touches := func(b box) bool {
		return slices.ContainsFunc(x.Polygons, func(p boundary.Polygon) bool { return b.touches(p) })
	}
	return o.boxes == nil || slices.ContainsFunc(o.boxes, touches)
}

// appendFeature appends an area of a collection as GeoJSON.
func (x *area) appendFeature(dst []byte, c *collection) []byte {
	dst = append(dst, `{"type":"Feature","id":`...)
	dst = text(x.Code).append(dst)
	dst = boundary.AppendGeometry(append(dst, `,"geometry":`...), x.Polygons)
	dst = append(dst, `,"properties":`...)
	for i, v := range x.cells() {
		dst = append(append(append(dst, "{,"[min(i, 1)], '"'), c.fields[i].Name...), `":`...)
		dst = v.append(dst)
	}
	return append(dst, "}}"...)
}

// cells are the values of the properties.
func (x *area) cells() []cell {
	return append([]cell{text(x.Code), text(x.Name), text(x.Country)}, x.figure...)
}

// text is a text that is null if it is empty.
func text(value string) cell { return cell{value, value != ""} }

// append appends a value as JSON.
func (v cell) append(dst []byte) []byte {
	switch {
	case v.isText:
		return render.AppendJSONText(dst, v.text)
	case v.text == "":
		return append(dst, "null"...)
	}
	return append(dst, v.text...)
}

// addTo adds an area to a page.
func (x *area) addTo(p *page) {
	var cells []string
	for _, v := range x.cells() {
		cells = append(cells, v.text)
	}
	if len(x.Polygons) == 0 {
		p.add(x.Code, "", "", cells)
	} else {
		p.add(x.Code, "MultiPolygon", string(boundary.AppendCoordinates(nil, x.Polygons)), cells)
	}
}

// areasOf are the areas of a collection by code: those that have boundaries, with their figures or
// why there is none, and places with a figure that have no boundaries.
func (a *request) areasOf(v *state.Served, c *collection) (all []area, err error) {
	figures := map[string]area{}
	areas := a.service.boundaries.Areas[c.level]
	if c.endpoint != nil {
		if err := a.service.addFigures(v, c, nil, figures); err != nil {
			return nil, err
		}
		if c.level == 0 { // those that have none say why, if they are countries
			var missing []string
			for i := range areas {
				if code := areas[i].Code; figures[code].figure == nil && isCountry(code) {
					missing = append(missing, code)
				}
			}
			for some := range slices.Chunk(missing, contract.MaxValues) {
				if err := a.service.addFigures(v, c, some, figures); err != nil {
					return nil, err
				}
			}
		}
	}
	for i := range areas {
		code := areas[i].Code
		x, has := figures[code]
		if !has {
			x = ofAnyTime
			if c.endpoint != nil {
				x.figure = noFigure(c)
			}
		}
		x.Area = &areas[i]
		all = append(all, x)
		delete(figures, code)
	}
	for _, code := range slices.Sorted(maps.Keys(figures)) {
		x := figures[code]
		x.Area = &boundary.Area{Code: code}
		all = append(all, x)
	}
	// Clients take the type of a layer and of its properties from the first features: so those with
	// a geometry come first, and of these those with a value.
	slices.SortStableFunc(all, func(a, b area) int {
		return cmp.Or(cmp.Compare(min(len(b.Polygons), 1), min(len(a.Polygons), 1)),
			cmp.Compare(b.values, a.values), strings.Compare(a.Code, b.Code))
	})
	return all, nil
}

type countriesKey struct{ level int }

// countriesOf are the countries of the units of a level, by the list of them: boundaries do not
// always have them as codes. Of level 0 there are none.
func (s *Service) countriesOf(v *state.Served, level int) (map[string]string, error) {
	return list.MadeOf(v, countriesKey{level}, func() (map[string]string, error) {
		of := map[string]string{}
		if level == 0 {
			return of, nil
		}
		e := contract.EndpointOf(fmt.Sprint("admin", level), contract.HAPINames)
		q := contract.Ask(e, contract.Aggregate).GroupBy("code", contract.CountryParam)
		return of, s.lists.QueryAll(v, q, func(found list.Valued) {
			for i := range found.Len() {
				of[found.Value(i, 0).String()] = found.Value(i, 1).String()
			}
		})
	})
}

// isCountry reports whether a code can be that of a country.
func isCountry(code string) bool {
	return len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// ofAnyTime is an area without a period.
var ofAnyTime = area{first: math.MinInt64, last: math.MaxInt64}

// addFigures adds the records of a figure by place: of some countries, or of all places.
func (s *Service) addFigures(v *state.Served, c *collection, countries []string, to map[string]area) error {
	q := contract.Ask(c.endpoint, contract.Figures)
	if countries != nil {
		q.KeepAll(contract.CountryParam, countries)
	}
	return s.lists.QueryAll(v, q, func(found list.Valued) {
		fields := found.Fields()
		for i, texts := range list.TextsOf(found) {
			place := texts.Value(fields[0].Name)
			if place == "" {
				continue // rows of a level that are of no unit
			}
			x := ofAnyTime
			for f := 1; f < len(fields); f++ {
				v := found.Value(i, f)
				x.figure = append(x.figure, cell{
					texts.Value(fields[f].Name), v.Kind == aggregate.Text || v.Kind == aggregate.Time,
				})
				switch {
				case v.Kind == aggregate.Null:
				case fields[f].Name == "value":
					x.values = 1
				case fields[f].Name == "period_start":
					x.first = v.Int
				case fields[f].Name == "period_end":
					x.last = v.Int
				}
			}
			to[place] = x
		}
	})
}

// noFigure is the figure of a place of which nothing is known.
func noFigure(c *collection) (all []cell) {
	for _, f := range c.fields[len(areaFields):] {
		var v cell
		switch h := c.endpoint.Headline; f.Name {
		case "unit":
			v = text(h.Unit)
		case "rows":
			v.text = "0"
		case "reason":
			v = text(fmt.Sprintf("no record of this place at level %d in the list %s is of this figure",
				c.level, h.List(contract.HAPINames).Name()))
		}
		all = append(all, v)
	}
	return all
}

// touches reports whether a polygon has a point in common with the box: an edge of it does, or the
// box is inside.
func (b box) touches(p boundary.Polygon) bool {
	inside := false
	for _, ring := range p {
		for i := 1; i < len(ring); i++ {
			from, to := ring[i-1], ring[i]
			if b.meets(from, to) {
				return true
			}
			// Is a corner inside? Count the edges to the east of it.
			if (from[1] > b[1]) != (to[1] > b[1]) &&
				b[0] < from[0]+(b[1]-from[1])/(to[1]-from[1])*(to[0]-from[0]) {
				inside = !inside
			}
		}
	}
	return inside
}

// meets reports whether an edge has a point in common with the box: the part of it that is between
// the box's meridians and that between its parallels overlap.
func (b box) meets(from, to [2]float64) bool {
	first, last := 0.0, 1.0
	for axis := range 2 {
		low, high, step := b[axis]-from[axis], b[axis+2]-from[axis], to[axis]-from[axis]
		if step == 0 {
			if low > 0 || high < 0 {
				return false
			}
			continue
		}
		enter, leave := low/step, high/step
		first, last = max(first, math.Min(enter, leave)), min(last, math.Max(enter, leave))
	}
	return first <= last
}
