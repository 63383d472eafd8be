package judge

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
	"hdqs/testdata"
)

// writeEdition writes a copy of view dumps in which edit has changed the records of each view. The
// first record is the header.
func writeEdition(t *testing.T, from string, edit func(*endpoint, [][]string) [][]string) string {
	t.Helper()
	to := t.TempDir()
	c := testkit.Value(parseContract(testdata.Contract))(t)
	for _, e := range c.Paths {
		name := dumpOf(e.Path) + ".csv"
		text, err := readMaybeGzip(filepath.Join(from, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		testkit.Must(t, err)
		records := testkit.Value(splitCSV(text))(t)
		var b bytes.Buffer
		testkit.Must(t, csv.NewWriter(&b).WriteAll(edit(e, records)))
		testkit.WriteFile(t, filepath.Join(to, name), b.Bytes())
	}
	beside, err := os.ReadFile(filepath.Join(from, "catalog.json"))
	if err == nil {
		testkit.WriteFile(t, filepath.Join(to, "catalog.json"), beside)
	}
	return to
}

var (
	oddTexts = []string{
		"é", "É", `"`, ",", "\n", "\r\n", "İ", "ı", "ß", "ẞ", "K", "ſ", "Σς", "%", "_", `\`, "\t", "\u2028", "😀", "'",
		"  ", "<&>", "\x7f", "\x01", "ǅ", "日本", "م", ";", "=", "|", "\u00a0", "\ufeff", "\ufffd", "e\u0301",
	}
	oddFigures = map[string][]string{
		"dec": {
			"0", "0.0", "-0.5", "1e-05", "123456789012345.678", "0.1000000000000000055511151231257827", "1E+2",
			"99999999999999999999.99", "0.30000000000000004", "5e-324", "1.7976931348623157e308", "00012.50",
			"0.000001", "12345678901234567890123456789", "100", "9007199254740993", "0.1", "2.5", "1e16", "1e15",
			"0.0001", "0.00009999",
		},
		"int": {
			"0", "1", "2147483647", "2147483648", "9007199254740993", "999999999999999999", "12", "255", "65536",
		},
		"time": {".000001", ".5", ".999999", ".123456", ".000000"}, // follow the second
	}
)

// oddEdition has unusual contents: letters with special case rules, quotes and line ends, decimals
// of every length, numbers beyond 32 bits, microseconds, nulls, rows with equal sort keys, rows and
// columns in another order.
func oddEdition(t *testing.T, from string, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 1))
	return writeEdition(t, from, func(e *endpoint, records [][]string) [][]string {
		head, rows := records[0], records[1:]
		for column, raw := range head {
			name := contractName(e.Path, raw)
			kind := kindOf(e.field(name), name)
			for _, row := range rows {
				switch {
				case isFixed(e, raw) || row[column] == "":
				case kind == "text":
					row[column] = oddText(seed, row[column])
				case e.Group != "metadata" && rng.IntN(15) == 0:
					row[column] = "" // also where a record allows no null: dumps are served unchanged
				case rng.IntN(3) == 0:
					row[column] = oddFigure(rng, e, name, kind, row[column])
				}
			}
		}
		if e.Group != "metadata" {
			for range len(rows) / 3 {
				rows = append(rows, variant(rng, e, head, rows))
			}
		}
		rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		order := rng.Perm(len(head))
		var out [][]string
		for _, record := range slices.Concat([][]string{head}, rows) {
			moved := []string{"nobody_asked"}
			for _, column := range order {
				moved = append(moved, record[column])
			}
			out = append(out, moved)
		}
		return out
	})
}

// isFixed reports whether a column keeps its values: other tables or the judge derive something
// from them, or only certain values are allowed.
func isFixed(e *endpoint, raw string) bool {
	name := contractName(e.Path, raw)
	f := e.field(name)
	switch {
	case strings.HasSuffix(raw, "hdx_id"), strings.HasSuffix(raw, "stub"), raw == "download_url", name == "id",
		strings.HasSuffix(name, "_ref"), name == "admin_level", name == "lat", name == "lon":
		return true
	case f == nil:
		return kindOf(f, name) != "text"
	}
	return f.Enum != nil
}

// oddText changes one text in three. Equal texts get the same change everywhere, because dumps
// repeat names of one list.
func oddText(seed uint64, text string) string {
	h := fnv.New64a()
	fmt.Fprint(h, seed, text)
	sum := h.Sum64()
	if text == "UNSPECIFIED" || sum%3 > 0 || len(text) > 30 && sum%2 == 0 {
		return text
	}
	runes := []rune(text)
	at := int(sum / 7 % uint64(len(runes)+1))
	return string(runes[:at]) + oddTexts[sum/64%uint64(len(oddTexts))] + string(runes[at:])
}

// oddFigure returns another number or time. Metadata lists keep theirs.
func oddFigure(rng *rand.Rand, e *endpoint, name, kind, cell string) string {
	values := oddFigures[kind]
	if e.Group == "metadata" || len(values) == 0 {
		return cell
	}
	value := values[rng.IntN(len(values))]
	if kind == "time" {
		return cell + value
	}
	return value
}

// variant repeats a row with other decimals, and sometimes with another provider's name, start or
// enum value: the columns that order rows which were equal.
func variant(rng *rand.Rand, e *endpoint, head []string, rows [][]string) []string {
	repeated := slices.Clone(rows[rng.IntN(len(rows))])
	other := rows[rng.IntN(len(rows))]
	for column, raw := range head {
		f := e.field(contractName(e.Path, raw))
		switch {
		case repeated[column] == "" || raw == "lat" || raw == "lon":
		case f != nil && f.Number == "decimal":
			repeated[column] = oddFigures["dec"][rng.IntN(len(oddFigures["dec"]))]
		case f != nil && f.Enum != nil && raw != "commodity_category" && rng.IntN(3) == 0:
			repeated[column] = f.Enum[rng.IntN(len(f.Enum))]
		case strings.HasPrefix(raw, "provider_admin") && rng.IntN(2) == 0:
			repeated[column] = oddTexts[rng.IntN(len(oddTexts))] + repeated[column]
		case raw == "reference_period_start" && rng.IntN(3) == 0:
			repeated[column] = other[column]
		}
	}
	return repeated
}

// laterEdition differs in one row of ten: a figure is another one, the row is gone, or it is there
// once more from some years earlier.
func laterEdition(t *testing.T, from string, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 2))
	return writeEdition(t, from, func(e *endpoint, records [][]string) [][]string {
		if e.Group == "metadata" {
			return records
		}
		out := records[:1:1]
		for _, row := range records[1:] {
			change := rng.IntN(30)
			if change == 0 {
				continue
			}
			if change == 1 {
				out = append(out, slices.Clone(row))
			}
			for column, raw := range records[0] {
				name := contractName(e.Path, raw)
				kind := kindOf(e.field(name), name)
				at, err := timestamp(row[column])
				switch {
				case change == 1 && strings.HasPrefix(raw, "reference_period_") && err == nil:
					row[column] = at.AddDate(-1-rng.IntN(5), 0, 0).Format("2006-01-02 15:04:05")
				case change == 2 && (kind == "int" || kind == "dec") && rng.IntN(2) == 0 && !isFixed(e, raw) &&
					!slices.Contains(e.key, name) && !strings.HasSuffix(name, "_age"):
					row[column] = fmt.Sprint(rng.IntN(1000))
				}
			}
			out = append(out, row)
		}
		return out
	})
}
