package judge

import (
	"compress/gzip"
	"encoding/csv"
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
	for _, r := range records[1:] {
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

// splitCSV splits a dump, whose lines end with LF, into records. encoding/csv turns a CR LF inside
// quotes into LF, and cells must be read as they were written, so it sees another character for
// each CR.
func splitCSV(text string) ([][]string, error) {
	const instead = "\ue00d" // of the private use area
	r := csv.NewReader(strings.NewReader(strings.ReplaceAll(text, "\r", instead)))
	records, err := r.ReadAll()
	for _, record := range records {
		for i, cell := range record {
			record[i] = strings.ReplaceAll(cell, instead, "\r")
		}
	}
	return records, err
}
