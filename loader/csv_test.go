//go:build !race

package loader

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"unicode/utf8"

	"hdqs/internal/testkit"
)

// TestCSVRows compares the reader with its case file, with the whole text at once and byte by byte.
func TestCSVRows(t *testing.T) {
	t.Parallel()
	for _, c := range readCases(t, "testdata/csv/rows.txt") {
		quotedText, want := c.cut(" -> ")
		text, err := strconv.Unquote(quotedText)
		if err != nil {
			t.Fatalf("%s: %v", c.at, err)
		}
		for _, src := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			got := describeCSV(src)
			if wantErr, ok := strings.CutPrefix(want, "error: "); ok && strings.Contains(got, wantErr) {
				continue
			}
			if got != want {
				t.Errorf("%s: got %s, want %s", c.at, got, want)
			}
		}
	}
}

func describeCSV(src io.Reader) string {
	r, err := newCSV("f", src, []string{"a", "b"}, nil)
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for {
		err := r.read()
		var fault *rowFault
		switch {
		case err == io.EOF:
			if out == nil {
				return "none"
			}
			return strings.Join(out, " ")
		case errors.As(err, &fault):
			out = append(out, fmt.Sprintf("(%d %s)", fault.line, fault.reason))
		case err != nil:
			return "error: " + err.Error()
		default:
			row := fmt.Sprintf("<%s>", bytes.Join(r.cells, []byte("> <")))
			out = append(out, "["+strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(row)+"]")
		}
	}
}

func TestCSVBounds(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxRowBytes)
	for name, c := range map[string]struct{ text, want string }{
		"row of exactly the bound":      {"a,b\n1," + long[2:] + "\n3,4\n", "[<1> <" + long[2:] + ">] [<3> <4>]"},
		"row one byte longer":           {"a,b\n1," + long[1:] + "\n3,4\n", "(2 row_too_long) [<3> <4>]"},
		"row far longer":                {"a,b\n1," + long + long + long + "\n3,4\n", "(2 row_too_long) [<3> <4>]"},
		"last row far longer, no break": {"a,b\n1,2\n1," + long + long + long, "[<1> <2>] (3 row_too_long)"},
		"quoted row one byte longer":    {"a,b\n1,\"" + long[3:] + "\"\n3,4\n", "(2 row_too_long) [<3> <4>]"},
		"quote never closed": {
			"a,b\n1,\"" + long + long,
			"error: f:2: row of more than 1048576 bytes with quotes: its end is ambiguous",
		},
		"quote never closed, with line breaks": {
			"a,b\n1,\"" + strings.Repeat("x\n", maxRowBytes), "error: f:2: a quote is not closed within 1048576 bytes",
		},
		"long row with a quote": {
			"a,b\n1," + long + long +
				"\"\n3,4\n", "error: f:2: row of more than 1048576 bytes with quotes: its end is ambiguous",
		},
		"as many columns as are read": {"a,b" + strings.Repeat(",", maxColumns-2) + "\n", "none"},
		"a column more": {
			"a,b" + strings.Repeat(",", maxColumns-1) + "\n",
			"error: header row: f:1: ragged_row: 513 cells, at most 512 are read",
		},
	} {
		if got := describeCSV(strings.NewReader(c.text)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, clip(got, 200), clip(c.want, 200))
		}
	}
}

// splitRows reads every row of a text; the first one is not a header.
func splitRows(text []byte, bufferSize int) (rows [][]string, faults int, err error) {
	r := &csvReader{name: "f", src: bytes.NewReader(text), buf: make([]byte, bufferSize), next: 1}
	for {
		err := r.split()
		var fault *rowFault
		switch {
		case err == io.EOF:
			return rows, faults, nil
		case errors.As(err, &fault):
			faults++
		case err != nil:
			return rows, faults, err
		default:
			row := make([]string, len(r.cells))
			for i, c := range r.cells {
				row[i] = string(c)
			}
			rows = append(rows, row)
		}
	}
}

// checkAgainstStandard compares the reader with encoding/csv, and a tiny buffer with a large one:
// where the standard reader finds no fault and the text is UTF-8, the rows are the same; where it
// finds one, so does ours.
func checkAgainstStandard(t *testing.T, text []byte) {
	t.Helper()
	rows, faults, err := splitRows(text, 4096)
	small, smallFaults, smallErr := splitRows(text, 3)
	if fmt.Sprint(rows, faults, err != nil) != fmt.Sprint(small, smallFaults, smallErr != nil) {
		t.Fatalf("%q: %q, %d faults, %v; with a buffer of 3 bytes %q, %d faults, %v", text, rows, faults, err, small,
			smallFaults, smallErr)
	}
	ends := regexp.MustCompile(`\r+(\n|$)`) // the standard reader drops one CR
	std := csv.NewReader(bytes.NewReader(ends.ReplaceAll(text, []byte("$1"))))
	std.FieldsPerRecord = -1
	want, stdErr := std.ReadAll()
	sound := err == nil && faults == 0
	if sound != (stdErr == nil && utf8.Valid(text) && !tooWide(want)) {
		t.Fatalf("%q: %d faults, %v; the standard reader says %v", text, faults, err, stdErr)
	}
	if !sound {
		return
	}
	for _, row := range rows {
		for i := range row {
			row[i] = regexp.MustCompile(`\r+\n`).ReplaceAllString(row[i], "\n") // inside quotes
		}
	}
	if fmt.Sprintf("%q", rows) != fmt.Sprintf("%q", want) {
		t.Fatalf("%q: got %q, the standard reader has %q", text, rows, want)
	}
}

func tooWide(rows [][]string) bool {
	for _, row := range rows {
		if len(row) > maxColumns {
			return true
		}
	}
	return false
}

// TestCSVAgainstStandard reads random texts of the characters that matter.
func TestCSVAgainstStandard(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	parts := []string{",", "\n", "\r\n", "\r", `"`, `""`, "a", " ", "é", `"b"`, ",\"c,d\"", "\xff", "#"}
	for range 20_000 {
		var text []byte
		for range random.IntN(12) {
			text = append(text, parts[random.IntN(len(parts))]...)
		}
		checkAgainstStandard(t, text)
	}
}

// FuzzCSV checks that any bytes give rows, faults of rows or an error, the same with any buffer,
// and the rows that the standard reader has.
func FuzzCSV(f *testing.F) {
	for _, s := range []string{
		"a,b\n1,2\n", "a,\"b\"\"\n\"\r\n1,2", "\"", "a\"b\n", "\xef\xbb\xbfa,b\r\n#x,#y\r\n",
		"a,b\n\n,\n\"x\"y\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxRowBytes {
			return // bounds have their own test
		}
		describeCSV(bytes.NewReader(text))
		checkAgainstStandard(t, text)
	})
}

// BenchmarkCSV reads rows like those of the largest sources, as bytes in memory: with our reader,
// and with encoding/csv and a reused record. The ratio of the two is in the comment of csvReader.
func BenchmarkCSV(b *testing.B) {
	const row = "AFG,Y,Y,Some province,Some district,AF01,Some province,AF0101,Some district,2,political_violence," +
		"12,3,2025-01-01,2025-01-31,00000000-0000-4000-8000-000000000001,00000000-0000-4000-8000-000000000002,,\n"
	const header = "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s\n"
	const rows = 10_000
	own := func(text string) (n int, err error) {
		r, err := newCSV("f", strings.NewReader(text), []string{"a"}, nil)
		for ; err == nil; n++ {
			err = r.read()
		}
		return n - 1, err
	}
	standard := func(text string) (n int, err error) {
		r := csv.NewReader(strings.NewReader(text))
		r.ReuseRecord = true
		for ; err == nil; n++ {
			_, err = r.Read()
		}
		return n - 2, err
	}
	for _, quote := range []bool{false, true} {
		line := row
		if quote {
			line = strings.Replace(row, "Some district", `"Some, ""district"""`, 1)
		}
		text := header + strings.Repeat(line, rows)
		for impl, read := range map[string]func(string) (int, error){"own": own, "standard": standard} {
			b.Run(fmt.Sprintf("quotes=%t/impl=%s", quote, impl), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if n, err := read(text); err != io.EOF || n != rows {
						b.Fatalf("%d rows, %v", n, err)
					}
				}
			})
		}
	}
}

// TestTooManyLines checks the bound on lines. It sets the reader just before the last line that it
// may read.
func TestTooManyLines(t *testing.T) {
	t.Parallel()
	r := testkit.Value(newCSV("f.csv", strings.NewReader("a\n1\n2\n3\n"), []string{"a"}, nil))(t)
	testkit.Must(t, r.read())
	r.next = maxLines
	if err := r.read(); err != nil {
		t.Errorf("line %d: %v", maxLines, err)
	}
	var fault *rowFault
	if err := r.read(); err == nil || errors.As(err, &fault) || !strings.Contains(err.Error(),
		"more than 50000000 lines") {
		t.Errorf("line %d: %v", maxLines+1, err)
	}
}

// TestOtherEncoding loads a theme of two files of which one is in Latin-1: it is refused as a file
// and keeps its last good table, instead of losing the rows that have an accent.
func TestOtherEncoding(t *testing.T) {
	t.Parallel()
	files := smallCatalog(t)
	lines := strings.SplitAfter(string(files["idps/a.csv"].Data), "\n")
	text := lines[0]
	for i := range 20 {
		text += strings.Replace(lines[1], "Op", fmt.Sprintf("Op\xc3\xa9ration %d", i), 1)
	}
	files["idps/b.csv"] = &fstest.MapFile{Data: []byte(text)}
	st := openStore(t)
	first := build(t, st, files, someDay)
	files["idps/b.csv"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(text, "\xc3\xa9", "\xe9"))}
	got := build(t, st, files, someDay)
	if len(got.Refused) != 1 || !strings.Contains(got.Refused[0].Why, "idps/b.csv:7: 6 rows are not UTF-8;") ||
		!slices.Equal(stalePaths(t, st, got), []string{"idps"}) {
		t.Errorf("refused %+v, stale %+v", got.Refused, got.Stale)
	}
	if segmentsOf(got)["idps"] != segmentsOf(first)["idps"] {
		t.Error("the table has changed")
	}
	if _, err := CheckFile(t.Context(), files, "idps", "idps/b.csv"); err == nil {
		t.Error("a download in Latin-1 would replace a good one")
	}
}
