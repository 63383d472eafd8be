package boundary

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"hdqs/api/chart"
)

// Published gathers the boundaries that OCHA publishes (cod-ab) from files, and writes those of
// levels 0 to 2 as Read reads them.
type Published struct {
	Tolerance float64 // in degrees: what is smaller is left out; 0 leaves out nothing
	Uncoded   int     // features without a code, which are left out
	Deeper    int     // features of levels that the program does not have, which are left out
	Files     int

	areas map[areaKey]*publishedArea
	fresh []*publishedArea // that are not simplified yet
}

type areaKey struct {
	level int
	code  string
}

type publishedArea struct {
	Area
	level int
	from  string // its file and feature
	file  string
}

// What folders of the catalog have beside the file that is read: earlier versions, and
// other geometries. Its STAC documents are no boundaries either.
var (
	isVersion = regexp.MustCompile(`^v[0-9]+$`)
	otherDirs = []string{"lines", "points"}
	documents = []string{"catalog.json", "collection.json"}
	deeper    = regexp.MustCompile(`^adm(in)?[3-9](_?pcode|_code|pcod)$`)
	isISO3    = regexp.MustCompile(`(?i)(?:^|/)([a-z]{3})(?:[/_]|$)`)
)

// original is the file of a level that has the boundaries as the country gave them.
const original = "original.parquet"

// AddTree adds all files of a tree.
func (p *Published) AddTree(tree fs.FS) error {
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			_, noLatest := fs.Stat(tree, path.Join(path.Dir(name), "latest"))
			if slices.Contains(otherDirs, base) || isVersion.MatchString(base) && noLatest == nil {
				return fs.SkipDir
			}
			return nil
		case slices.Contains(documents, base):
			return nil
		case path.Ext(name) == ".parquet" && base != original:
			if _, none := fs.Stat(tree, path.Join(path.Dir(name), original)); none == nil {
				return nil
			}
		}
		if !isPublished(name) {
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return p.Add(name, data)
	})
}

// isPublished reports whether a file can be one of boundaries, by its name.
func isPublished(name string) bool {
	return slices.Contains([]string{".geojson", ".json", ".parquet", ".zip"}, strings.ToLower(path.Ext(name)))
}

// Add adds a file: GeoJSON, GeoParquet, or a zip file with some. The error names it.
func (p *Published) Add(name string, data []byte) (err error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".zip":
		inside, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err == nil {
			err = p.AddTree(inside)
		}
		return named(name, err)
	case ".parquet":
		err = p.addParquet(name, data)
	default:
		err = p.addGeoJSON(name, data)
	}
	p.Files++
	return named(name, err)
}

func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (p *Published) addGeoJSON(name string, data []byte) error {
	var file collection
	if err := json.Unmarshal(data, &file); err != nil {
		return notJSON(err)
	}
	if err := file.check(); err != nil {
		return err
	}
	for i, text := range file.Features {
		var raw rawFeature
		err := json.Unmarshal(text, &raw)
		if err == nil {
			err = p.addFeature(name, i+1, raw.Properties, func(r *reader) ([]Polygon, error) {
				if raw.Geometry == nil {
					return nil, errors.New("it has no geometry")
				}
				return r.polygons(raw.Geometry.Type, raw.Geometry.Coordinates)
			})
		}
		if err != nil {
			return fmt.Errorf("feature %d: %w", i+1, err)
		}
	}
	return nil
}

// geoMeta is the member "geo" of a GeoParquet file.
type geoMeta struct {
	Primary string `json:"primary_column"`
	Columns map[string]struct {
		Encoding string `json:"encoding"`
		CRS      *struct {
			ID struct {
				Authority string `json:"authority"`
				Code      any    `json:"code"`
			} `json:"id"`
		} `json:"crs"`
	} `json:"columns"`
}

func (p *Published) addParquet(name string, data []byte) (err error) {
	defer func() {
		if damage := recover(); damage != nil { // the library panics on some damaged files
			err = fmt.Errorf("the file is damaged: %v", damage)
		}
	}()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return fmt.Errorf("no Parquet: %w", err)
	}
	meta := geoMeta{Primary: "geometry"}
	if text, has := f.Lookup("geo"); has {
		if err := json.Unmarshal([]byte(text), &meta); err != nil {
			return fmt.Errorf(`its metadata "geo": %w`, err)
		}
		c := meta.Columns[meta.Primary]
		if c.Encoding != "WKB" {
			return fmt.Errorf("the geometry %q is encoded as %q; WKB can be read", meta.Primary, c.Encoding)
		}
		if c.CRS != nil && fmt.Sprint(c.CRS.ID.Code) != "4326" && c.CRS.ID.Code != "CRS84" {
			return fmt.Errorf("coordinates of %s:%v: longitude and latitude of WGS 84 are wanted; "+
				"ogr2ogr -t_srs EPSG:4326 converts them", c.CRS.ID.Authority, c.CRS.ID.Code)
		}
	}
	columns := f.Schema().Columns()
	if !slices.ContainsFunc(columns, func(c []string) bool { return len(c) == 1 && c[0] == meta.Primary }) {
		return fmt.Errorf("there is no column %q with the geometry", meta.Primary)
	}
	number := 0
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		defer rows.Close()
		for space := make([]parquet.Row, 64); ; {
			n, err := rows.ReadRows(space)
			for _, row := range space[:n] {
				number++
				if err := p.addRow(name, number, row, columns, meta.Primary); err != nil {
					return fmt.Errorf("feature %d: %w", number, err)
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *Published) addRow(name string, number int, row parquet.Row, columns [][]string, primary string) error {
	properties, shape := map[string]any{}, []byte(nil)
	for _, v := range row {
		switch of := columns[v.Column()]; {
		case v.IsNull() || len(of) != 1 || v.Kind() != parquet.ByteArray:
		case of[0] == primary:
			shape = v.ByteArray()
		default:
			properties[of[0]] = string(v.ByteArray())
		}
		if of := columns[v.Column()]; len(of) == 1 && v.IsNull() {
			properties[of[0]] = nil
		}
	}
	return p.addFeature(name, number, properties, func(r *reader) ([]Polygon, error) {
		if shape == nil {
			return nil, fmt.Errorf("it has no %s", primary)
		}
		polygons, err := polygonsOf(shape)
		if err != nil {
			return nil, err
		}
		return r.check(polygons)
	})
}

// addFeature adds a feature of a file.
func (p *Published) addFeature(
	file string, number int, given map[string]any, shape func(*reader) ([]Polygon, error),
) error {
	properties := textsOf(given)
	level := -1
	for name := range given {
		name = strings.ToLower(name)
		for at, names := range codeNames {
			if slices.Contains(names, name) {
				level = max(level, at)
			}
		}
		if deeper.MatchString(name) && properties[name] != "" {
			p.Deeper++
			return nil
		}
	}
	if level < 0 {
		return fmt.Errorf("%w. It has %s", errNoCode, strings.Join(slices.Sorted(maps.Keys(given)), ", "))
	}
	a := &publishedArea{level: level, file: file, from: fmt.Sprintf("feature %d of %s", number, file)}
	a.Code, a.Name = first(properties, codeNames[level]), first(properties, nameNames[level])
	a.Country = iso3Of(properties, file)
	switch {
	case level > 0 && a.Code == "" || level == 0 && a.Code == "" && a.Country == "":
		p.Uncoded++
		return nil
	case a.Country == "":
		return fmt.Errorf("nothing says the country's code of three letters: not a property of %s, and no part of "+
			"the path; name the file or its folder so, such as afg_admin1.geojson", strings.Join(codeNames[0], ", "))
	case level == 0:
		a.Code = a.Country
	}
	var err error
	if a.Polygons, err = shape(new(reader)); err != nil {
		return fmt.Errorf("%s: %w", a.Code, err)
	}
	key := areaKey{level, a.Code}
	switch known := p.areas[key]; {
	case known == nil:
		if p.areas == nil {
			p.areas = map[areaKey]*publishedArea{}
		}
		p.areas[key] = a
		p.fresh = append(p.fresh, a)
	case known.file == file: // a place of several features
		known.Polygons = append(known.Polygons, a.Polygons...)
	default:
		return fmt.Errorf("%s is in %s too; give one of the files", a.Code, known.from)
	}
	return nil
}

// iso3Of is the code of three letters of a feature's country: by a property, or by the path of its
// file, whose folder or name begins with it.
func iso3Of(properties map[string]string, file string) string {
	for _, name := range codeNames[0] {
		if code := properties[name]; len(code) == 3 {
			return strings.ToUpper(code)
		}
	}
	if found := isISO3.FindStringSubmatch(file); found != nil {
		return strings.ToUpper(found[1])
	}
	return ""
}

// Simplify leaves out what is smaller than the tolerance, of what was added since the last call.
// What has borders in common should be added before: it keeps the same points along them.
func (p *Published) Simplify() {
	if p.Tolerance > 0 {
		rings := make([][][][2]float64, len(p.fresh))
		for i, a := range p.fresh {
			for _, polygon := range a.Polygons {
				rings[i] = append(rings[i], polygon...)
			}
		}
		for i, fewer := range chart.Simplify(rings, p.Tolerance) {
			p.fresh[i].Polygons = p.fresh[i].simplified(fewer)
		}
	}
	p.fresh = nil
}

// simplified are the polygons of an area with simplified rings: nil for those that are left out.
func (a *publishedArea) simplified(rings [][][2]float64) (all []Polygon) {
	for _, polygon := range a.Polygons {
		var kept Polygon
		for i := range polygon {
			if rings[i] != nil && (i == 0 || kept != nil) {
				kept = append(kept, rings[i])
			}
		}
		if rings = rings[len(polygon):]; kept != nil {
			all = append(all, kept)
		}
	}
	if all == nil { // smaller than a step of the grid
		return a.Polygons[:1]
	}
	return all
}

// Write writes the areas, and says how many there are of each level. It fails where Read would.
func (p *Published) Write(attribution string) (text []byte, counts [3]int, err error) {
	p.Simplify()
	areas := slices.SortedFunc(maps.Values(p.areas), func(a, b *publishedArea) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.Code, b.Code))
	})
	quoted, err := json.Marshal(attribution)
	if err != nil {
		return nil, counts, err
	}
	text = fmt.Appendf(nil, "{\"type\":\"FeatureCollection\",\"attribution\":%s,\"features\":[", quoted)
	for i, a := range areas {
		properties := map[string]string{"location_code": a.Country}
		properties[codeNames[a.level][0]], properties[nameNames[a.level][0]] = a.Code, a.Name
		named, err := json.Marshal(properties)
		if err != nil {
			return nil, counts, err
		}
		counts[a.level]++
		text = fmt.Appendf(append(text, ",\n"[1-min(i, 1):]...), `{"type":"Feature","properties":%s,"geometry":`, named)
		text = append(AppendGeometry(text, a.Polygons), '}')
	}
	text = append(text, "\n]}\n"...)
	_, err = Read(bytes.NewReader(text), "")
	return text, counts, err
}
