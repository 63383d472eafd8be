package loader

import (
	"encoding/csv"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hdqs/snapshot"
)

// The twin is a second, slow loader: it reads a catalog with encoding/csv, maps and strings, a row
// at a time, and was written from the description of the sources, not from the loader. On random
// catalogs (twin_random_test.go) its rows and the loader's must be the same.

// twinTheme describes a theme to the twin.
type twinTheme struct {
	table string

	// place is how a row gives its place: "2" and "1" down to that level, "0" a country, "m" from
	// one country to another, "k" by its market.
	place string

	// columns are the theme's own columns, as header:kind, or header>column:kind where the names
	// differ. A kind is T (a text, followed by its greatest length), E (an enum), I (an integer) or
	// D (a decimal), then ? when it may be null, then [from,to] when it has limits.
	columns string

	// key is the columns that identify a row; P stands for those of the place.
	key string
}

var twinThemes = map[string]twinTheme{
	"conflict-events": {
		"conflict_event", "2", "event_type:E events:I?[0,] fatalities:I?[0,]",
		"P event_type reference_period_start",
	},
	"operational-presence": {
		"operational_presence", "2", "org_acronym:T32 org_name:T512 sector_code:T32",
		"P org_acronym org_name sector_code reference_period_start",
	},
	"funding": {
		"funding", "0",
		"appeal_code:T64 appeal_name:T256 appeal_type:T64? requirements_usd:D?[0,] funding_usd:D[0,] " +
			"funding_pct:D?[0,]",
		"appeal_code location_code reference_period_start",
	},
	"national-risk": {
		"national_risk", "0",
		"risk_class:E global_rank:I[1,250] overall_risk:D[0,10] hazard_exposure_risk:D[0,10] " +
			"vulnerability_risk:D[0,10] " +
			"coping_capacity_risk:D[0,10] meta_missing_indicators_pct:D?[0,100] meta_avg_recentness_years:D?",
		"location_code reference_period_start",
	},
	"refugees-persons-of-concern": {"refugees", "m", twinMovement, twinMovementKey},
	"returnees":                   {"returnees", "m", twinMovement, twinMovementKey},
	"humanitarian-needs": {
		"humanitarian_needs", "2", "sector_code:T32 category:T128 population_status:E population:I[0,]",
		"P category sector_code population_status reference_period_start",
	},
	"idps": {
		"idps", "2", "operation:T assessment_type:T population:I[0,] reporting_round:I[0,]",
		"P assessment_type reporting_round operation reference_period_start",
	},
	"food-security": {
		"food_security", "2",
		"ipc_phase>classification_phase:E ipc_type>classification_type:E population_in_phase:I[0,] " +
			"population_fraction_in_phase:D[0,1]", "P classification_phase classification_type reference_period_start",
	},
	"food-prices-market-monitor": {
		"food_price", "k",
		"market_code:T32 commodity_code:T32 currency_code:T32 unit:T32 price_flag:E price_type:E price:D[0,]",
		"market_code commodity_code unit price_flag price_type reference_period_start",
	},
	"poverty-rate": {
		"poverty_rate", "1",
		"mpi:D headcount_ratio:D[0,100] intensity_of_deprivation:D?[0,100] " +
			"vulnerable_to_poverty:D[0,100] in_severe_poverty:D[0,100]",
		"P reference_period_start",
	},
	"rainfall": {
		"rainfall", "2",
		"provider_admin1_code:T128 provider_admin2_code:T128 aggregation_period:E rainfall:D[0,] " +
			"rainfall_long_term_average:D[0,] " +
			"rainfall_anomaly_pct:D number_pixels:I?[1,] version:E?",
		"P provider_admin1_code provider_admin2_code aggregation_period version reference_period_start",
	},
	"baseline-population": {
		"population", "2", "gender:E age_range:T32 min_age:I?[0,] max_age:I?[0,] population:I[0,]",
		"P gender age_range reference_period_start",
	},
}

const (
	twinMovement    = "population_group:E gender:E age_range:T32 min_age:I?[0,] max_age:I?[0,] population:I[0,]"
	twinMovementKey = "origin_location_code asylum_location_code population_group gender age_range " +
		"reference_period_start"
)

// twinEnums are the values of the columns of kind E.
var twinEnums = map[string]string{
	"event_type": "civilian_targeting|demonstration|political_violence", "risk_class": "1|2|3|4|5",
	"population_group": "REF|ROC|ASY|OIP|IDP|IOC|STA|OOC|HST|RET|RST|NAT|RDP|RRI|all", "gender": "f|m|x|u|o|all",
	"population_status": "AFF|INN|TGT|REA|all", "classification_phase": "1|2|3|4|5|3+|all",
	"classification_type": "current|first projection|second projection",
	"price_flag":          "actual|aggregate|actual,aggregate",
	"price_type":          "Farm Gate|Producer|Retail|Wholesale", "aggregation_period": "dekad|1-month|3-month",
	"version": "final|forecast|preliminary",
}

type row map[string]string

// twin is the lists of a catalog.
type twin struct {
	t                                   *testing.T
	files                               fs.FS
	country, level1, level2             map[string]row
	org, orgType, sector, market, goods map[string]row
}

// read gives the rows of a file, without those in error and a row of tags.
func (w *twin) read(name string) []row {
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

func newTwin(t *testing.T, files fs.FS) *twin {
	w := &twin{
		t: t, files: files, country: map[string]row{}, level1: map[string]row{}, level2: map[string]row{},
		org: map[string]row{}, orgType: map[string]row{}, sector: map[string]row{}, market: map[string]row{},
		goods: map[string]row{},
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

func (w *twin) readLists() {
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
func (w *twin) rows(role string) []string {
	spec := twinThemes[role]
	names, _ := fs.Glob(w.files, role+"/*.csv")
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(path.Base(a), path.Base(b)) })
	kept := map[string]string{}
	for _, name := range names {
		for _, r := range w.read(name) {
			out := row{}
			if !w.place(spec.place, r, out) || !twinColumns(spec.columns, r, out) || !twinPeriod(role, r, out) {
				continue
			}
			w.join(spec.table, r, out)
			out["resource_catalog_id"] = r["resource_hdx_id"]
			var key []string
			for _, k := range strings.Fields(spec.key) {
				if k == "P" {
					key = append(key, out["stored_admin1_code"], out["stored_admin2_code"], out["provider_admin1_name"],
						out["provider_admin2_name"])
				} else {
					key = append(key, out[k])
				}
			}
			kept[strings.Join(key, "\x00")] = out.String()
		}
	}
	out := make([]string, 0, len(kept))
	for _, r := range kept {
		out = append(out, r)
	}
	slices.Sort(out)
	return out
}

func (r row) String() string {
	var parts []string
	for k, v := range r {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func (w *twin) setCountry(prefix, code string, out row) bool {
	c := w.country[code]
	out[prefix+"location_code"], out[prefix+"location_name"] = code, c["name"]
	out[prefix+"has_hrp"], out[prefix+"in_gho"] = c["hrp"], c["gho"]
	return c != nil
}

// place resolves a row's place: kind 2, 1 and 0 go down to that level, m is from one country to
// another, k is that of the market.
func (w *twin) place(kind string, r, out row) bool {
	switch kind {
	case "m":
		return w.setCountry("origin_", r["origin_location_code"], out) && w.setCountry("asylum_",
			r["asylum_location_code"], out)
	case "0":
		return w.setCountry("", r["location_code"], out)
	case "k":
		from := r
		if m := w.market[r["market_code"]]; m != nil {
			from = m
		}
		out["market_name"] = from["market_name"]
		lat, ok1 := twinNumber("D?[-90,90]", from["lat"])
		lon, ok2 := twinNumber("D?[-180,180]", from["lon"])
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
		twinPrint(out, "2", unit, stands["name"], p2, printed >= 2)
	}
	twinPrint(out, "1", stands["parent"], up["name"], p1, printed >= 1)
	out["admin_level"] = fmt.Sprint(printed)
	return len([]rune(p1)) <= 512 && len([]rune(p2)) <= 512
}

func twinPrint(out row, level, code, name, provider string, shown bool) {
	if provider != "" && (name == "" || strings.ToLower(name) == "unspecified") {
		name = provider
	}
	if !shown {
		code, name = "null", "null"
	}
	out["admin"+level+"_code"], out["admin"+level+"_name"] = code, name
}

var (
	twinInt  = regexp.MustCompile(`^[-+]?\d{1,18}(\.0*)?$`)
	twinDec  = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)
	twinSpec = regexp.MustCompile(`^([TEID])(\d*)(\??)(?:\[([^,]*),([^]]*)\])?$`)
)

// twinNumber reads a cell by a kind such as I?[0,100]; numbers are compared as float64.
func twinNumber(kind, cell string) (string, bool) {
	m := twinSpec.FindStringSubmatch(kind)
	if cell == "" {
		return "null", m[3] == "?"
	}
	form := twinDec
	if m[1] == "I" {
		form = twinInt
	}
	f, err := strconv.ParseFloat(cell, 64)
	if err != nil || !form.MatchString(cell) {
		return "", false
	}
	for i, bound := range m[4:6] {
		if b, err := strconv.ParseFloat(bound, 64); err == nil && (i == 0 && f < b || i == 1 && f > b) {
			return "", false
		}
	}
	return twinFloat(f), true
}

func twinFloat(f float64) string { return strconv.FormatFloat(f+0, 'g', -1, 64) }

// twinColumns reads the cells of a theme's own columns.
func twinColumns(spec string, r, out row) bool {
	for _, c := range strings.Fields(spec) {
		name, kind, _ := strings.Cut(c, ":")
		header, name, renamed := strings.Cut(name, ">")
		if !renamed {
			name = header
		}
		cell, ok := r[header], true
		m := twinSpec.FindStringSubmatch(kind)
		switch {
		case m[1] == "I" || m[1] == "D":
			cell, ok = twinNumber(kind, cell)
		case cell == "" && m[3] == "?":
			cell = "null"
		case m[1] == "E":
			ok = slices.Contains(strings.Split(twinEnums[name], "|"), cell)
		case m[2] != "":
			most, _ := strconv.Atoi(m[2])
			ok = len([]rune(cell)) <= most
		}
		if !ok {
			return false
		}
		out[name] = cell
	}
	return true
}

func twinPeriod(role string, r, out row) bool {
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
func (w *twin) join(table string, r, out row) {
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

// compareTwin builds a catalog and compares every theme's table with the twin's rows.
func compareTwin(t *testing.T, files fs.FS) {
	t.Helper()
	_, snap := buildFiles(t, files)
	w := newTwin(t, files)
	for _, src := range dataThemes {
		seg := snap.Segments[src.table.name]
		var names []string
		for _, c := range seg.Columns() {
			if !strings.HasSuffix(c.Name, "_ref") {
				names = append(names, c.Name)
			}
		}
		var got []string
		for id := range uint32(seg.Rows()) {
			r := row{}
			for _, name := range names {
				c, _ := seg.Column(name)
				r[name] = twinValue(c, id)
			}
			got = append(got, r.String())
		}
		slices.Sort(got)
		want := w.rows(src.role)
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, the twin has %d", src.role, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s: got\n%s\nthe twin has\n%s", src.role, got[i], want[i])
				break
			}
		}
	}
}

func twinValue(c *snapshot.Column, row uint32) string {
	text := segmentValue(c, row)
	if (c.Kind == snapshot.Int || c.Kind == snapshot.Decimal) && text != "null" && c.Name != "admin_level" {
		f, _ := strconv.ParseFloat(text, 64)
		return twinFloat(f)
	}
	return text
}
