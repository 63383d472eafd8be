//go:build !race

package loader

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// The oracle is a second, slow loader: it reads a catalog with encoding/csv, maps and strings, a
// row at a time, and was written from the description of the sources, not from the loader. What
// columns a theme has, their types and the key of its rows come from the contract. The rows of the
// oracle and of the loader must be the same for random catalogs, the sample and the real files.

// oracleThemes are the tables of the themes, and how a row gives its place: "2" and "1" down to
// that level, "0" a country, "m" from one country to another, "k" by its market.
var oracleThemes = map[string]struct{ table, place string }{
	"conflict-events":             {"conflict_event", "2"},
	"operational-presence":        {"operational_presence", "2"},
	"funding":                     {"funding", "0"},
	"national-risk":               {"national_risk", "0"},
	"refugees-persons-of-concern": {"refugees", "m"},
	"returnees":                   {"returnees", "m"},
	"humanitarian-needs":          {"humanitarian_needs", "2"},
	"idps":                        {"idps", "2"},
	"food-security":               {"food_security", "2"},
	"food-prices-market-monitor":  {"food_price", "k"},
	"poverty-rate":                {"poverty_rate", "1"},
	"rainfall":                    {"rainfall", "2"},
	"baseline-population":         {"population", "2"},
}

// notRead matches the columns that places, lists and periods give.
var notRead = regexp.MustCompile(`location_|^admin|^resource_|^reference_period|^sector_name|^org_type|^market_name|` +
	`^commodity_(name|category)|^lat|^lon`)

// oracleLimits are the least and greatest number of a column, where these are not zero and any.
var oracleLimits = map[string][2]float64{
	"global_rank": {1, 250}, "overall_risk": {0, 10}, "hazard_exposure_risk": {0, 10}, "vulnerability_risk": {0, 10},
	"coping_capacity_risk": {0, 10}, "meta_missing_indicators_pct": {0, 100}, "headcount_ratio": {0, 100},
	"intensity_of_deprivation": {0, 100}, "vulnerable_to_poverty": {0, 100}, "in_severe_poverty": {0, 100},
	"population_fraction_in_phase": {0, 1}, "number_pixels": {1, math.Inf(1)}, "lat": {-90, 90}, "lon": {-180, 180},
	"mpi": {math.Inf(-1), math.Inf(1)}, "rainfall_anomaly_pct": {math.Inf(-1), math.Inf(1)},
	"meta_avg_recentness_years": {math.Inf(-1), math.Inf(1)},
}

// fileHeader is the name of a column in the files.
func fileHeader(column string) string { return strings.Replace(column, "classification_", "ipc_", 1) }

// ownFields are the fields of a table whose cells are read from the row itself.
func ownFields(e contractEndpoint) (own []contractField) {
	for _, f := range e.Fields {
		if !notRead.MatchString(f.Name) || strings.HasPrefix(f.Name, "provider_") {
			own = append(own, f)
		}
	}
	return own
}

// contractKey is the columns that identify a row: those of its order, without what does not
// identify.
func contractKey(e contractEndpoint) (key []string) {
	for _, o := range append(slices.Clone(e.OrderBy), e.Ties...) {
		switch o.Column {
		case "population", "reference_period_end":
		case "admin1_ref", "admin2_ref":
			key = append(key, "stored_"+strings.Replace(o.Column, "_ref", "_code", 1))
		default:
			key = append(key, strings.Replace(o.Column, "_ref", "_code", 1))
		}
	}
	return key
}

type row map[string]string

// oracle is the lists of a catalog.
type oracle struct {
	tables                              map[string]contractEndpoint
	t                                   *testing.T
	files                               fs.FS
	country, level1, level2             map[string]row
	org, orgType, sector, market, goods map[string]row
}

// read gives the rows of a file, without those in error and a row of tags.
func (w *oracle) read(name string) []row {
	data, err := fs.ReadFile(w.files, name)
	if err != nil {
		return nil
	}
	records, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(data), "\ufeff"))).ReadAll()
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
	var out []row
	for _, record := range records[1:] {
		r := row{}
		for i, header := range records[0] {
			r[header] = record[i]
		}
		if r["error"] == "" {
			out = append(out, r)
		}
	}
	return out
}

func newOracle(t *testing.T, files fs.FS) *oracle {
	w := &oracle{
		tables: readContract(t), t: t, files: files, country: map[string]row{}, level1: map[string]row{},
		level2: map[string]row{}, org: map[string]row{}, orgType: map[string]row{}, sector: map[string]row{},
		market: map[string]row{}, goods: map[string]row{},
	}
	for _, r := range w.read("reference/location.csv") {
		if code := r["ISO 3166-1 Alpha 3-Codes"]; code != "" {
			name := r["M49 English"]
			if name == "" {
				name = r["Preferred Term"]
			}
			w.country[code] = row{
				"code": code, "name": name, "hrp": fmt.Sprint(r["Has HRP"] == "Y"),
				"gho": fmt.Sprint(r["In GHO"] == "Y"),
			}
		}
	}
	for code := range w.country {
		w.level1[code+"-XXX"] = row{"name": "UNSPECIFIED", "country": code, "not real": "x"}
	}
	pcodes := w.read("reference/pcodes.csv")
	for _, r := range pcodes {
		if w.country[r["Location"]] != nil && r["Admin Level"] == "1" {
			w.level1[r["P-Code"]] = row{"name": r["Name"], "country": r["Location"]}
		}
	}
	for code := range w.level1 {
		w.level2[code+"-XXX"] = row{"name": "UNSPECIFIED", "parent": code, "not real": "x"}
	}
	for _, r := range pcodes {
		if w.country[r["Location"]] == nil || r["Admin Level"] != "2" {
			continue
		}
		if up := w.level1[r["Parent P-Code"]]; up != nil && up["not real"] == "" {
			w.level2[r["P-Code"]] = row{"name": r["Name"], "parent": r["Parent P-Code"]}
		} else if r["P-Code"] == "SS0001" {
			w.level2["SS0001"] = row{"name": r["Name"], "parent": "SSD-XXX"}
		}
	}
	w.readLists()
	return w
}

func (w *oracle) readLists() {
	for code, name := range map[string]string{
		"501": "Civil Society", "502": "Observer", "503": "Development Programme",
		"504": "Local NGO",
	} {
		w.orgType[code] = row{"Preferred Term": name}
	}
	for code, name := range map[string]string{
		"Cash": "Cash programming", "Hum": "Humanitarian assistance (unspecified)",
		"Multi": "Multi-sector (unspecified)", "Intersectoral": "Intersectoral",
	} {
		w.sector[code] = row{"Preferred Term": name}
	}
	for _, list := range []struct {
		file string
		into map[string]row
		key  string
	}{
		{"org-type", w.orgType, "HR.info ID"}, {"sector", w.sector, "ACRONYM"}, {
			"market", w.market,
			"market_code",
		}, {"commodity", w.goods, "code"},
	} {
		for _, r := range w.read("reference/" + list.file + ".csv") {
			list.into[r[list.key]] = r
		}
	}
	for _, r := range w.read("reference/org.csv") {
		w.org[r["acronym"]+"\x00"+r["name"]] = r
	}
}

// rows gives what a role's table is to hold, each row as text, sorted.
func (w *oracle) rows(role string) []string {
	theme := oracleThemes[role]
	e := w.tables[theme.table]
	names, _ := fs.Glob(w.files, role+"/*.csv")
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	kept, misplaced := map[string]string{}, map[string]bool{}
	for _, name := range names {
		for _, r := range w.read(name) {
			out := row{}
			if !w.place(theme.place, r, out) || !readOwn(e, r, out) || !readDates(role, r, out) {
				continue
			}
			w.join(theme.table, r, out)
			if role != "national-risk" { // some files of which have no such column
				out["resource_catalog_id"] = r["resource_hdx_id"]
			}
			var key []string
			for _, column := range contractKey(e) {
				key = append(key, out[column])
			}
			k := strings.Join(key, "\x00")
			if kept[k] != "" && r["misplaced"] != "" && !misplaced[k] {
				continue // a row above its unit gives way to one that is not
			}
			kept[k], misplaced[k] = out.String(), r["misplaced"] != ""
		}
	}
	return slices.Sorted(maps.Values(kept))
}

func (r row) String() string {
	var parts []string
	for k, v := range r {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func (w *oracle) setCountry(prefix, code string, out row) bool {
	c := w.country[code]
	out[prefix+"location_code"], out[prefix+"location_name"] = code, c["name"]
	out[prefix+"has_hrp"], out[prefix+"in_gho"] = c["hrp"], c["gho"]
	return c != nil
}

// place resolves a row's place: kind 2, 1 and 0 go down to that level, m is from one country to
// another, k is that of the market.
func (w *oracle) place(kind string, r, out row) bool {
	switch kind {
	case "m":
		return w.setCountry("origin_", r["origin_location_code"], out) && w.setCountry("asylum_",
			r["asylum_location_code"], out)
	case "0":
		return w.setCountry("", r["location_code"], out)
	case "k":
		from := r
		if m := w.market[r["market_code"]]; m != nil {
			if from = m; r["location_code"] != "" && r["location_code"] != m["location_code"] ||
				w.elsewhere(m["location_code"], r["admin1_code"], r["admin2_code"]) {
				return false
			}
		}
		out["market_name"] = from["market_name"]
		lat, ok1 := readNumber(contractField{Name: "lat", Nullable: true}, from["lat"])
		lon, ok2 := readNumber(contractField{Name: "lon", Nullable: true}, from["lon"])
		out["lat"], out["lon"] = lat, lon
		return ok1 && ok2 && w.place("2", from, out)
	}
	country := r["location_code"]
	if w.country[country] == nil {
		return false
	}
	p1, p2 := r["provider_admin1_name"], ""
	if kind == "2" {
		p2 = r["provider_admin2_name"]
	}
	if w.elsewhere(country, r["admin1_code"], r["admin2_code"]) {
		return false
	}
	level := 0
	if p1 != "" || r["admin1_name"] != "" {
		level = 1
	}
	if kind == "2" && (p2 != "" || r["admin2_name"] != "") {
		level = 2
	}
	unit := country + "-XXX-XXX"
	switch {
	case level == 2 && r["admin2_code"] != "":
		if w.level2[r["admin2_code"]] != nil {
			unit = r["admin2_code"]
		}
	case level >= 1 && r["admin1_code"] != "":
		if w.level1[r["admin1_code"]] != nil {
			unit = r["admin1_code"] + "-XXX"
		}
	}
	stands := w.level2[unit]
	up := w.level1[stands["parent"]]
	w.setCountry("", up["country"], out)
	out["stored_admin1_code"], out["stored_admin1_name"], out["provider_admin1_name"] = stands["parent"], up["name"], p1
	printed := 0
	if p1 != "" || up["not real"] == "" {
		printed = 1
	}
	if kind == "2" {
		out["stored_admin2_code"], out["stored_admin2_name"], out["provider_admin2_name"] = unit, stands["name"], p2
		if p2 != "" || stands["not real"] == "" {
			printed = 2
		}
		printUnit(out, "2", unit, stands["name"], p2, printed >= 2)
	}
	printUnit(out, "1", stands["parent"], up["name"], p1, printed >= 1)
	out["admin_level"] = fmt.Sprint(printed)
	code1, code2 := r["admin1_code"], r["admin2_code"]
	unlisted := level == 2 && code2 != "" && w.level2[code2] == nil ||
		level >= 1 && (level == 1 || code2 == "") && code1 != "" && w.level1[code1] == nil
	says := func(l string, cells ...string) bool { return r["admin_level"] == l || strings.Join(cells, "") != "" }
	if unlisted || printed < 2 && says("2", code2, r["provider_admin2_name"], r["admin2_name"]) ||
		printed < 1 && says("1", code1, p1, r["admin1_name"]) {
		r["misplaced"] = "x"
	}
	return len([]rune(p1)) <= 512 && len([]rune(p2)) <= 512
}

// elsewhere reports whether one of the codes is of a unit of another country.
func (w *oracle) elsewhere(country string, codes ...string) bool {
	return slices.ContainsFunc(codes, func(code string) bool {
		up := w.level1[code]
		if up == nil {
			up = w.level1[w.level2[code]["parent"]]
		}
		return up != nil && up["country"] != country
	})
}

func printUnit(out row, level, code, name, provider string, shown bool) {
	if provider != "" && (name == "" || strings.ToLower(name) == "unspecified") {
		name = provider
	}
	if !shown {
		code, name = "null", "null"
	}
	out["admin"+level+"_code"], out["admin"+level+"_name"] = code, name
}

var (
	integerForm = regexp.MustCompile(`^[-+]?\d{1,18}(\.0*)?$`)
	decimalForm = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)
)

// readNumber reads a cell; numbers are compared as float64.
func readNumber(f contractField, cell string) (string, bool) {
	if cell == "" {
		return "null", f.Nullable
	}
	form := decimalForm
	if f.Number == "int" {
		form = integerForm
	}
	v, err := strconv.ParseFloat(cell, 64)
	limit, known := oracleLimits[f.Name]
	if !known {
		limit = [2]float64{0, math.Inf(1)}
	}
	return floatText(v), err == nil && form.MatchString(cell) && v >= limit[0] && v <= limit[1]
}

func floatText(f float64) string { return strconv.FormatFloat(f+0, 'g', -1, 64) }

// readOwn reads the cells of a theme's own columns.
func readOwn(e contractEndpoint, r, out row) bool {
	for _, f := range ownFields(e) {
		cell, ok := r[fileHeader(f.Name)], true
		switch {
		case f.Number != "" && f.Enum == nil:
			cell, ok = readNumber(f, cell)
		case cell == "" && f.Nullable && !strings.HasPrefix(f.Name, "provider_"):
			cell = "null"
		case f.Enum != nil:
			ok = slices.Contains(f.Enum, cell)
		case f.MaxLength > 0:
			ok = len([]rune(cell)) <= f.MaxLength
		}
		if !ok {
			return false
		}
		out[f.Name] = cell
	}
	least, err1 := strconv.Atoi(out["min_age"])
	most, err2 := strconv.Atoi(out["max_age"])
	return err1 != nil || err2 != nil || least <= most
}

func readDates(role string, r, out row) bool {
	start, err := time.Parse("2006-01-02", strings.SplitN(r["reference_period_start"], " ", 2)[0])
	if err != nil {
		return false
	}
	out["reference_period_start"] = start.Format("2006-01-02T15:04:05")
	cell := r["reference_period_end"]
	if cell == "" && role == "operational-presence" {
		out["reference_period_end"] = "null"
		return true
	}
	end, err := time.Parse("2006-01-02", strings.SplitN(cell, " ", 2)[0])
	out["reference_period_end"] = end.Format("2006-01-02") + "T23:59:59"
	return err == nil && !end.Before(start)
}

// join takes from the lists what the record shows of them.
func (w *oracle) join(table string, r, out row) {
	orNull := func(s string) string {
		if s == "" {
			return "null"
		}
		return s
	}
	switch table {
	case "operational_presence":
		code := w.org[r["org_acronym"]+"\x00"+r["org_name"]]["org_type_code"]
		out["org_type_code"], out["org_type_description"] = orNull(code), orNull(w.orgType[code]["Preferred Term"])
		fallthrough
	case "humanitarian_needs":
		out["sector_name"] = orNull(w.sector[r["sector_code"]]["Preferred Term"])
	case "food_price":
		out["commodity_name"], out["commodity_category"] = r["commodity_name"], r["commodity_category"]
		if g := w.goods[r["commodity_code"]]; g != nil {
			out["commodity_name"], out["commodity_category"] = g["name"], g["category"]
		}
	}
}

// compareLists compares the reference lists.
func (w *oracle) compareLists(snap *store.Snapshot) {
	lines := func(rows map[string]row, names ...string) (all []string) {
		for code, r := range rows {
			if r["not real"] != "" {
				continue
			}
			cells := []string{code}
			for _, name := range names {
				cells = append(cells, r[name])
			}
			all = append(all, strings.Join(cells, "|"))
		}
		return all
	}
	for table, c := range map[string]struct {
		columns []string
		want    []string
	}{
		"location":  {[]string{"code", "name", "has_hrp", "in_gho"}, lines(w.country, "name", "hrp", "gho")},
		"admin1":    {[]string{"code", "name", "location_code"}, lines(w.level1, "name", "country")},
		"admin2":    {[]string{"code", "name", "admin1_code"}, lines(w.level2, "name", "parent")},
		"org_type":  {[]string{"code", "description"}, lines(w.orgType, "Preferred Term")},
		"sector":    {[]string{"code", "name"}, lines(w.sector, "Preferred Term")},
		"commodity": {[]string{"code", "category", "name"}, lines(w.goods, "category", "name")},
	} {
		got := segmentRows(w.t, snap.Segments[table], c.columns)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			w.t.Errorf("%s: got %d rows\n%q\nthe oracle has %d\n%q", table, len(got), got, len(c.want), c.want)
		}
	}
}

// compareWithOracle builds a catalog and compares every theme's table with the oracle's rows.
func compareWithOracle(t *testing.T, files fs.FS) {
	t.Helper()
	_, snap := buildFiles(t, files)
	w := newOracle(t, files)
	w.compareLists(snap)
	for role, theme := range oracleThemes {
		seg := snap.Segments[theme.table]
		var got []string
		for id := range uint32(seg.Rows()) {
			r := row{}
			for _, c := range seg.Columns() {
				notCompared := c.Name == "resource_catalog_id" && role == "national-risk"
				if !strings.HasSuffix(c.Name, "_ref") && !notCompared {
					r[c.Name] = comparable(c, id)
				}
			}
			got = append(got, r.String())
		}
		slices.Sort(got)
		want := w.rows(role)
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, the oracle has %d", role, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s: got\n%s\nthe oracle has\n%s", role, got[i], want[i])
				break
			}
		}
	}
}

func comparable(c *snapshot.Column, row uint32) string {
	text := segmentValue(c, row)
	if (c.Kind == snapshot.Int || c.Kind == snapshot.Decimal) && text != "null" && c.Name != "admin_level" {
		f, _ := strconv.ParseFloat(text, 64)
		return floatText(f)
	}
	return text
}
