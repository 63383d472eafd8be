package loader

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// readHeader takes the row just split as the names of the columns.
func (r *csvReader) readHeader(wanted, optional []string) error {
	for i, cell := range r.cells {
		name := strings.TrimSpace(string(cell))
		r.header = append(r.header, name)
		if name == "" {
			continue // a column without a name cannot be asked for
		}
		if slices.ContainsFunc(r.header[:i], func(other string) bool { return strings.EqualFold(other, name) }) {
			return fmt.Errorf("%s: duplicate column %q in the header", r.name, name)
		}
		if !slices.Contains(wanted, name) && !slices.Contains(optional, name) {
			r.extra = append(r.extra, name)
		}
	}
	return r.missing(wanted)
}

// missing is the error of a header that lacks columns, nil when it has all of them.
func (r *csvReader) missing(wanted []string) error {
	var missing []string
	for _, name := range wanted {
		if r.position(name) < 0 {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	has := "it has " + clip(strings.Join(r.header, ", "), 200)
	if len(r.extra) > 0 { // those that were renamed are among them
		has = fmt.Sprintf("it has %s, which nothing reads", clip(strings.Join(r.extra, ", "), 200))
	}
	return fmt.Errorf("%s: header lacks %s; %s", r.name, strings.Join(missing, ", "), has)
}

// checkRenamed refuses a file in which a column that it may lack has another name, as the ids had
// before 2025: rows in error would be served, or rows would look as if they named no source.
func checkRenamed(r *csvReader) error {
	for _, name := range []string{"error", "dataset_hdx_id", "resource_hdx_id"} {
		if r.position(name) >= 0 {
			continue
		}
		if i := slices.IndexFunc(r.header, renamed[name].MatchString); i >= 0 {
			return fmt.Errorf("%s: header lacks %s and has %s; rename it", r.name, name, r.header[i])
		}
	}
	ids := []string{"dataset_hdx_id", "resource_hdx_id"}
	for i, name := range ids {
		if other := ids[1-i]; r.position(name) < 0 && r.position(other) >= 0 {
			return fmt.Errorf("%s: header lacks %s, but has %s", r.name, name, other)
		}
	}
	return nil
}

// renamed match other names of the columns that files may lack. An id is a word, no part of one, as
// in dataset_hdx_provider_stub.
var renamed = map[string]*regexp.Regexp{
	"error":           regexp.MustCompile(`(?i)^\W*err`),
	"dataset_hdx_id":  renamedID("dataset"),
	"resource_hdx_id": renamedID("resource"),
}

func renamedID(of string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + of + `(.*[^a-z])?id([^a-z]|$)|(^|[^a-z])id([^a-z].*)?` + of)
}

// isTagRow reports whether a row is one of hashtags, mostly that under the header: every cell that
// is not empty begins with #, and at least one is not empty.
func isTagRow(cells [][]byte) bool {
	tags := false
	for _, c := range cells {
		if len(c) > 0 && (c[0] != '#' || isEmptyWord(c)) {
			return false
		}
		tags = tags || len(c) > 0
	}
	return tags
}

// byteOrderMark may begin a file in UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// isHeader reports whether the current row has the names of the columns again, as in a file that
// was joined from several.
func (r *csvReader) isHeader() bool {
	return slices.EqualFunc(r.cells, r.header, func(cell []byte, name string) bool {
		return bytes.EqualFold(bytes.TrimSpace(bytes.TrimPrefix(cell, byteOrderMark)), []byte(name))
	})
}
