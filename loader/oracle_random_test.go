//go:build !race

package loader

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"hdqs/internal/testkit"
	"hdqs/loader/sample"
)

// TestSampleAgainstOracle loads the sample, and the real files.
func TestSampleAgainstOracle(t *testing.T) {
	t.Parallel()
	compareWithOracle(t, sample.FS)
}

func TestFixturesAgainstOracle(t *testing.T) {
	t.Parallel()
	compareWithOracle(t, os.DirFS(fixtureCatalog(t)))
}

// TestRandomCatalogsAgainstOracle makes catalogs whose cells are drawn from few values, good and
// bad, so that every join meets every case.
func TestRandomCatalogsAgainstOracle(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	for range 6 {
		compareWithOracle(t, randomCatalog(t, random))
	}
}

// randomWords are the values that cells of a random catalog have, good ones more than once.
var randomWords = map[string]string{
	"location_code": "AFG|AFG|AFG|AFG|NGA|SSD|TCD|XKX|", "admin1_code": "AF01|AF01|NG021|TCD01|ECISLA||",
	"admin2_code": "AF0101|AF0102|NG021011|SS0001|ECISLA|TCD0101|||AFG-XXX-XXX",
	"admin_level": "0|1|2|2||x",
	"admin1_name": "Kabul||", "admin2_name": "Paghman||", "provider_admin1_name": "Kabul|Some, \"place\"|||",
	"provider_admin2_name": "Village| |||",
	"org_acronym":          "ABC|DEF", "org_name": "Alpha|Beta", "sector_code": "EDU|Cash", "market_code": "7|8",
	"commodity_code": "30|31",
	"commodity_name": "Own", "commodity_category": "non-food|oil and fats", "market_name": "Own market",
	"lat": "1.5|", "lon": "-2|200",
	"reference_period_start": "2024-01-01|2024-01-01|2024-06-01|2024-02-30",
	"reference_period_end":   "2024-12-31|2024-12-31|2024-01-15|",
	"error":                  "|||||||bad", "age_range": "0-4|all", "provider_admin1_code": "900|",
	"resource_hdx_id": "r-1|r-2",
	"dataset_hdx_id":  "d",
}

func randomCatalog(t *testing.T, random *rand.Rand) fstest.MapFS {
	files := catalogOf(readSections(t, "testdata/catalogs/base.txt"))
	adm := "location_code,provider_admin1_name,provider_admin2_name,admin1_code,admin1_name,admin2_code,admin2_name"
	files["reference/pcodes.csv"].Data = append(files["reference/pcodes.csv"].Data,
		"AFG,2,ECISLA,Isla,AF01,2020-01-01\n"...)
	files["reference/org.csv"] = &fstest.MapFile{
		Data: []byte("acronym,name,org_type_code\nABC,Alpha,437\nABC,Beta,\nDEF,Beta,504\n"),
	}
	files["reference/market.csv"] = &fstest.MapFile{Data: []byte(adm +
		",market_name,market_code,lat,lon\nNGA,,,NG021,Katsina,NG021011,x,Listed,7,3,4\n")}
	files["reference/sector.csv"] = &fstest.MapFile{
		Data: []byte("ACRONYM,Preferred Term\nEDU,Schools\nCash,Listed cash\n"),
	}
	files["reference/org-type.csv"] = &fstest.MapFile{Data: []byte("HR.info ID,Preferred Term\n437,Large\n")}
	files["reference/commodity.csv"] = &fstest.MapFile{Data: []byte("category,name,code\npulses and nuts,Lentils,30\n")}
	tables := readContract(t)
	for role, theme := range oracleThemes {
		headers := []string{
			"reference_period_start", "reference_period_end", "dataset_hdx_id", "resource_hdx_id", "warning", "error",
		}
		switch theme.place {
		case "m":
			headers = append(headers, "origin_location_code", "asylum_location_code")
		case "0":
			headers = append(headers, "location_code")
		case "k":
			headers = append(headers, "market_name", "lat", "lon", "commodity_name", "commodity_category")
			fallthrough
		default:
			headers = append(append(headers, "admin_level"), strings.Split(adm, ",")...)
		}
		fields := map[string]contractField{}
		for _, f := range ownFields(tables[theme.table]) {
			headers = append(headers, fileHeader(f.Name))
			fields[fileHeader(f.Name)] = f
		}
		for file := range 2 {
			random.Shuffle(len(headers), func(i, j int) { headers[i], headers[j] = headers[j], headers[i] })
			records := [][]string{headers}
			for range 400 {
				var record []string
				for _, h := range headers {
					record = append(record, randomCell(random, h, fields[h]))
				}
				records = append(records, record)
			}
			var b strings.Builder
			testkit.Must(t, csv.NewWriter(&b).WriteAll(records))
			files[fmt.Sprintf("%s/%d.csv", role, file)] = &fstest.MapFile{Data: []byte(b.String())}
		}
	}
	return files
}

func randomCell(random *rand.Rand, header string, f contractField) string {
	header = strings.TrimPrefix(strings.TrimPrefix(header, "origin_"), "asylum_")
	words, ok := randomWords[header]
	switch {
	case ok:
	case f.Enum != nil:
		words = strings.Repeat(strings.Join(f.Enum, "|")+"|", 4) + "nonsense|"
	case f.Number == "int":
		words = "1|1|2|3|4.0|5|2|1||-1|x"
	case f.Number == "decimal":
		words = "0.5|0.5|1|0.2500|1e-2|0|0.125|0.75||-1|1.5.2"
	default:
		words = "|a|a |é"
	}
	choices := strings.Split(words, "|")
	return choices[random.IntN(len(choices))]
}
