package judge

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// readDump reads a view dump, plain or gzipped. Each row is a map from the header's names to the
// cells. A missing view is an empty table.
func readDump(dir, view string) ([]map[string]string, error) {
	text, err := readMaybeGzip(filepath.Join(dir, view+".csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	records, err := splitCSV(strings.TrimPrefix(text, "\ufeff"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", view, err)
	}
	if len(records) == 0 {
		return nil, nil
	}
	rows := make([]map[string]string, 0, len(records)-1)
	for i, r := range records[1:] {
		if len(r) != len(records[0]) {
			return nil, fmt.Errorf("%s: record %d has %d cells, the header %d", view, i+2, len(r), len(records[0]))
		}
		row := make(map[string]string, len(r))
		for j, name := range records[0] {
			row[name] = r[j]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func readMaybeGzip(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(text), err
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		return "", err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return "", fmt.Errorf("%s.gz: %w", path, err)
	}
	text, err = io.ReadAll(z)
	return string(text), err
}

// splitCSV splits psql's CSV into records. encoding/csv turns a CR LF inside quotes into LF, and
// cells must be read as they were written.
func splitCSV(text string) ([][]string, error) {
	var records [][]string
	var record []string
	var cell strings.Builder
	endRecord := func() {
		record = append(record, cell.String())
		cell.Reset()
		if len(record) > 1 || record[0] != "" {
			records = append(records, record)
		}
		record = nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			content, length, closed := quotedPart(text[i+1:])
			if !closed {
				return nil, fmt.Errorf("record %d: a quote is never closed", len(records)+1)
			}
			cell.WriteString(content)
			i += length
		case c == ',':
			record = append(record, cell.String())
			cell.Reset()
		case c == '\n':
			endRecord()
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
		default:
			cell.WriteByte(c)
		}
	}
	if cell.Len() > 0 || len(record) > 0 {
		endRecord()
	}
	return records, nil
}

// quotedPart reads quoted text after its opening quote. length includes the closing quote.
func quotedPart(text string) (content string, length int, closed bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			if i+1 == len(text) || text[i+1] != '"' {
				return b.String(), i + 1, true
			}
			i++ // a doubled quote is one
		}
		b.WriteByte(text[i])
	}
	return "", 0, false
}
