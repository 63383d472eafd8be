//go:build !race

package index

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hdqs/internal/tables"
	"hdqs/internal/testkit"
	"hdqs/snapshot"
)

// caseFile is a table, queries and answers in a text file; see testdata/query/text.txt for the
// format.
type caseFile struct {
	t       *testing.T
	at      string // file and line
	columns []caseColumn
	rows    [][]*string
	seg     *snapshot.Segment
	x       *Index

	query     Query
	got, scan Page
	err       error
}

type caseColumn struct {
	name, kind, group string
	values            []string // of an enum
}

func TestQueryCases(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/query/*.txt")
	if len(files) == 0 {
		t.Fatal("no case files")
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := os.Open(path)
			testkit.Must(t, err)
			defer file.Close()
			c := &caseFile{t: t}
			lines := bufio.NewScanner(file)
			for n := 1; lines.Scan(); n++ {
				c.at = fmt.Sprintf("%s:%d", path, n)
				if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
					c.line(line)
				}
			}
		})
	}
}

func (c *caseFile) fatal(args ...any) {
	c.t.Helper()
	c.t.Fatal(append([]any{c.at + ":"}, args...)...)
}

func (c *caseFile) line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "table":
		for _, text := range strings.Fields(rest) {
			name, kind, _ := strings.Cut(text, ":")
			kind, group, _ := strings.Cut(kind, "@")
			column := caseColumn{name: name, group: group}
			kind, values, _ := strings.Cut(strings.TrimSuffix(kind, ")"), "(")
			column.kind, column.values = kind, strings.Split(values, ",")
			c.columns = append(c.columns, column)
		}
	case "row":
		fields := c.fields(rest)
		if len(fields) != len(c.columns) {
			c.fatal(len(fields), "values for", len(c.columns), "columns")
		}
		c.rows = append(c.rows, fields)
	case "query":
		if c.seg == nil {
			c.build()
		}
		c.ask(rest)
	case "rows":
		var want []uint32
		for _, text := range strings.Fields(rest) {
			row, err := strconv.ParseUint(text, 10, 32)
			if err != nil {
				c.fatal(err)
			}
			want = append(want, uint32(row))
		}
		if got, scan := listRanges(c.got.Ranges), listRanges(c.scan.Ranges); c.err != nil ||
			!slices.Equal(got, want) || !slices.Equal(scan, want) {
			c.t.Errorf("%s: Select gives %v, Scan %v, want %v; error %v", c.at, got, scan, want, c.err)
		}
		if c.got.Total != c.scan.Total || c.got.Total < len(want) {
			c.t.Errorf("%s: total %d, Scan's %d", c.at, c.got.Total, c.scan.Total)
		}
	case "total":
		if want, _ := strconv.Atoi(rest); c.got.Total != want {
			c.t.Errorf("%s: total %d, want %d", c.at, c.got.Total, want)
		}
	case "error":
		if !errors.Is(c.err, ErrFilter) || !strings.Contains(c.err.Error(), rest) {
			c.t.Errorf("%s: error %v", c.at, c.err)
		}
	default:
		c.fatal("cannot read", line)
	}
}

// fields splits at blanks outside of quotes. nil is null.
func (c *caseFile) fields(text string) (fields []*string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var field string
		if quoted, err := strconv.QuotedPrefix(text); err == nil {
			field, _ = strconv.Unquote(quoted)
			text = text[len(quoted):]
		} else {
			field, text, _ = strings.Cut(text, " ")
			if field == "-" {
				fields = append(fields, nil)
				continue
			}
		}
		fields = append(fields, &field)
	}
	return fields
}

// build makes the segment: each group's tuples are the distinct values of its columns together.
func (c *caseFile) build() {
	data := &snapshot.TableData{Name: "case", Rows: len(c.rows)}
	for i, column := range c.columns {
		if column.group == "" {
			data.Columns = append(data.Columns, c.column(i, c.rows))
			continue
		}
		if slices.ContainsFunc(data.Groups, func(g snapshot.GroupData) bool { return g.Name == column.group }) {
			continue
		}
		g := snapshot.GroupData{Name: column.group}
		seen := make(map[string]uint32)
		var tuples [][]*string
		for _, row := range c.rows {
			key := ""
			for k, other := range c.columns {
				if other.group == g.Name && row[k] != nil {
					key += strconv.Quote(*row[k])
				} else if other.group == g.Name {
					key += "-"
				}
			}
			if _, ok := seen[key]; !ok {
				seen[key] = uint32(len(tuples))
				tuples = append(tuples, row)
			}
			g.Codes = append(g.Codes, seen[key])
		}
		g.Tuples = len(tuples)
		for k, other := range c.columns {
			if other.group == g.Name {
				g.Columns = append(g.Columns, c.column(k, tuples))
			}
		}
		data.Groups = append(data.Groups, g)
	}
	c.seg = tables.Segment(c.t, data)
	c.x = opened(c.t, c.seg, Options{})
}

// column returns the values of column i in rows or tuples.
func (c *caseFile) column(i int, rows [][]*string) snapshot.ColumnData {
	column := c.columns[i]
	data := snapshot.ColumnData{Name: column.name, Index: column.group == ""}
	for _, row := range rows {
		if row[i] == nil {
			data.Codes = append(data.Codes, snapshot.NullCode)
			data.Ints = append(data.Ints, snapshot.NullInt)
			data.Decimals = append(data.Decimals, snapshot.Dec{Scale: snapshot.DecNull})
			continue
		}
		value := *row[i]
		switch column.kind {
		case "text", "enum":
			if column.kind == "enum" {
				data.Values = column.values
			}
			code := slices.Index(data.Values, value)
			if code < 0 {
				code = len(data.Values)
				data.Values = append(data.Values, value)
			}
			data.Codes = append(data.Codes, uint32(code))
		case "decimal":
			d, ok := snapshot.ParseDec(value)
			if !ok {
				plain, _ := snapshot.PlainDecimal(value)
				at := slices.Index(data.Texts, plain)
				if at < 0 {
					at = len(data.Texts)
					data.Texts = append(data.Texts, plain)
				}
				d = snapshot.Dec{Mantissa: int64(at), Scale: snapshot.DecText}
			}
			data.Decimals = append(data.Decimals, d)
		case "bool":
			data.Ints = append(data.Ints, map[string]int64{"true": 1}[value])
		default:
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				c.fatal(err)
			}
			data.Ints = append(data.Ints, n)
		}
	}
	data.Kind = map[string]snapshot.Kind{
		"text": snapshot.Text, "enum": snapshot.Enum, "int": snapshot.Int, "decimal": snapshot.Decimal,
		"bool": snapshot.Bool, "time": snapshot.Time,
	}[column.kind]
	switch data.Kind {
	case snapshot.Text, snapshot.Enum:
		data.Ints, data.Decimals = nil, nil
	case snapshot.Decimal:
		data.Codes, data.Ints = nil, nil
	default:
		data.Codes, data.Decimals = nil, nil
	}
	return data
}

// ask parses a query and runs it.
func (c *caseFile) ask(text string) {
	c.query = Query{Limit: 1000}
	for clause := range strings.SplitSeq(text, " & ") {
		var words []string
		for _, word := range c.fields(clause) {
			words = append(words, *word)
		}
		if len(words) == 0 {
			continue
		}
		if words[0] == "offset" || words[0] == "limit" {
			for i := 0; i+1 < len(words); i += 2 {
				n, _ := strconv.ParseUint(words[i+1], 10, 64)
				if words[i] == "offset" {
					c.query.Offset = n
				} else {
					c.query.Limit = int(n)
				}
			}
			continue
		}
		if len(words) < 3 {
			c.fatal("cannot read filter", clause)
		}
		op := map[string]Op{
			"equals": Equal, "like": Like, "contains": Contains, ">=": AtLeast, "<": Below,
			">=null": AtLeastOrNull,
		}[words[1]]
		f := Filter{
			Columns: strings.Split(words[0], "|"), Op: op,
			Value: caseValue(words[len(words)-1], words[2] == "exact"),
		}
		c.query.Filters = append(c.query.Filters, f)
	}
	c.err = c.x.Select(&c.query, &c.got)
	if err := Scan(c.seg, &c.query, &c.scan); (err == nil) != (c.err == nil) {
		c.fatal("Select says", c.err, "Scan", err)
	}
	// The second answer comes from the cache and must be the same.
	var again Page
	if c.x.Select(&c.query, &again); !slices.Equal(again.Ranges, c.got.Ranges) || again.Total != c.got.Total {
		c.fatal("the second answer", again, "differs from the first", c.got)
	}
}

// caseValue is a value as text and, where it is one, as number.
func caseValue(text string, exact bool) Value {
	v := Value{Text: text, Beyond: map[string]int8{"above": 1, "below": -1}[text]}
	v.Int, _ = strconv.ParseInt(text, 10, 64)
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		v.Float = f
	} else {
		v.Float = math.NaN()
	}
	if exact {
		v.Exact, _ = new(big.Rat).SetString(text)
	}
	return v
}
