package judge

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// garbler turns dumps into dumps of the same shape with unusual contents: letters with special case
// rules, quotes and line ends, decimals of every length, numbers beyond 32 bits, microseconds,
// shuffled rows, rows with equal sort keys, columns in another order.
type garbler struct {
	contract *contract
	seed     uint64
	rng      *rand.Rand
}

var (
	oddTexts = []string{
		"é", "É", `"`, ",", "\n", "\r\n", "İ", "ı", "ß", "ẞ", "K", "ſ", "Σς", "%", "_", `\`, "\t", "\u2028", "😀", "'",
		"  ", "<&>", "\x7f", "\x01", "ǅ", "日本", "م",
		";", "=", "|", "\u00a0", "\ufeff", "\ufffd", "e\u0301",
	}
	oddDecimals = []string{
		"0", "0.0", "-0.5", "1e-05", "123456789012345.678", "0.1000000000000000055511151231257827", "1E+2",
		"99999999999999999999.99", "0.30000000000000004", "5e-324",
		"1.7976931348623157e308", "00012.50", "0.000001", "12345678901234567890123456789", "100", "9007199254740993",
		"0.1", "2.5", "1e16", "1e15", "0.0001", "0.00009999",
	}
	oddIntegers = []string{
		"0", "1", "2147483647", "2147483648", "9007199254740993", "999999999999999999", "12",
		"255", "65536",
	}
	oddMicros = []string{".000001", ".5", ".999999", ".123456", ".000000"}
)

// garble writes garbled dumps of a directory to another.
func (g *garbler) garble(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range g.contract.Paths {
		view := dumpOf(e.Path)
		if view == "data_availability_view" && g.seed%2 == 1 {
			continue // for half of the seeds the program has to derive it
		}
		text, err := readMaybeGzip(filepath.Join(from, view+".csv"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		records, err := splitCSV(text)
		if err != nil {
			return fmt.Errorf("%s: %w", view, err)
		}
		g.records(e, records)
		if err := g.write(filepath.Join(to, view+".csv"), g.shuffled(e, records)); err != nil {
			return err
		}
	}
	return g.copyBeside(from, to)
}

func (g *garbler) copyBeside(from, to string) error {
	beside, err := os.ReadFile(filepath.Join(from, "catalog.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "catalog.json"), beside, 0o644)
}

// records changes cells. Equal texts get the same change everywhere, because dumps repeat names of
// one list.
func (g *garbler) records(e *endpoint, records [][]string) {
	for column, raw := range records[0] {
		name := contractName(e.Path, raw)
		kind := kindOf(e.field(name), name)
		if fixedColumn(e, raw) {
			continue
		}
		for _, record := range records[1:] {
			if kind == "text" {
				record[column] = g.text(record[column])
			} else {
				record[column] = g.figure(e, name, kind, record[column])
			}
		}
	}
}

// fixedColumn reports whether a column keeps its values: those that other tables or the judge
// derive something from.
func fixedColumn(e *endpoint, raw string) bool {
	name := contractName(e.Path, raw)
	f := e.field(name)
	switch {
	case strings.HasSuffix(raw, "hdx_id"), strings.HasSuffix(raw, "stub"), raw == "download_url":
		return true
	case name == "id", strings.HasSuffix(name, "_ref"), name == "admin_level":
		return true
	case dumpOf(e.Path) == "data_availability_view" && (raw == "category" || raw == "subcategory"):
		return true
	case f == nil:
		return kindOf(f, name) != "text"
	}
	return f.Enum != nil
}

// figure changes one in three numbers and times. Metadata lists keep theirs.
func (g *garbler) figure(e *endpoint, name, kind, cell string) string {
	listed := e.Group == "metadata"
	if cell == "" || listed && kind != "dec" || g.rng.IntN(3) > 0 {
		return cell
	}
	if !listed && g.rng.IntN(15) == 0 {
		return "" // also where a record allows no null: dumps are served unchanged
	}
	switch {
	case kind == "int":
		return oddIntegers[g.rng.IntN(len(oddIntegers))]
	case kind == "dec" && !listed && name != "lat" && name != "lon":
		return oddDecimals[g.rng.IntN(len(oddDecimals))]
	case kind == "time":
		return cell + oddMicros[g.rng.IntN(len(oddMicros))]
	}
	return cell
}

func (g *garbler) text(text string) string {
	h := fnv.New64a()
	fmt.Fprint(h, g.seed, text)
	sum := h.Sum64()
	if text == "" || text == "UNSPECIFIED" || sum%3 > 0 || len(text) > 30 && sum%2 == 0 {
		return text
	}
	runes := []rune(text)
	at := int(sum / 7 % uint64(len(runes)+1))
	return string(runes[:at]) + oddTexts[sum/64%uint64(len(oddTexts))] + string(runes[at:])
}

// variant repeats a data row with other figures, and sometimes with another provider's name, start
// or enum value: the columns that order rows which were equal.
func (g *garbler) variant(e *endpoint, head []string, rows [][]string) []string {
	repeated := slices.Clone(rows[g.rng.IntN(len(rows))])
	other := rows[g.rng.IntN(len(rows))]
	for column, raw := range head {
		f := e.field(contractName(e.Path, raw))
		switch {
		case repeated[column] == "" || raw == "lat" || raw == "lon":
		case f != nil && f.Number == "decimal":
			repeated[column] = oddDecimals[g.rng.IntN(len(oddDecimals))]
		case f != nil && f.Enum != nil && raw != "commodity_category" && g.rng.IntN(3) == 0:
			repeated[column] = f.Enum[g.rng.IntN(len(f.Enum))]
		case strings.HasPrefix(raw, "provider_admin") && g.rng.IntN(2) == 0:
			repeated[column] = oddTexts[g.rng.IntN(len(oddTexts))] + repeated[column]
		case raw == "reference_period_start" && g.rng.IntN(3) == 0:
			repeated[column] = other[column]
		}
	}
	return repeated
}

// shuffled puts rows and columns into another order, repeats some data rows, and adds an unknown
// column.
func (g *garbler) shuffled(e *endpoint, records [][]string) [][]string {
	head, rows := records[0], records[1:]
	if e.Group != "metadata" {
		for i, n := 0, len(rows)/3; i < n; i++ {
			rows = append(rows, g.variant(e, head, rows))
		}
	}
	g.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	order := g.rng.Perm(len(head))
	out := make([][]string, 0, len(rows)+1)
	for n, record := range slices.Concat([][]string{head}, rows) {
		moved := make([]string, 0, len(head)+1)
		for _, column := range order {
			moved = append(moved, record[column])
		}
		if n == 0 {
			moved = append(moved, "nobody_asked")
		} else {
			moved = append(moved, "x,\ny")
		}
		out = append(out, moved)
	}
	return out
}

func (g *garbler) write(path string, records [][]string) error {
	var b bytes.Buffer
	for _, record := range records {
		for i, cell := range record {
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsAny(cell, ",\"\r\n") || cell != "" && g.rng.IntN(20) == 0 {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	if g.rng.IntN(2) == 0 {
		return os.WriteFile(path, b.Bytes(), 0o644)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(b.Bytes()); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path+".gz", packed.Bytes(), 0o644)
}
