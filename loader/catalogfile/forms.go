package catalogfile

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// notTables are the forms of files that have no rows. Any other form may have some.
const notTables = " pdf doc docx odt rtf ppt pptx md rst html htm css js py r sh yaml yml log png jpg jpeg gif svg " +
	"webp tif tiff geotiff shp shx prj cpg gdb kml kmz md5 sha256 sig asc webapp geoservice "

// aboutFiles are the names of texts that come with files.
var aboutFiles = regexp.MustCompile(`(?i)^(readme|licen[cs]e|notice|changelog|(md5|sha\d+)sums?)(\.txt)?$`)

// Form is a format as catalogs write it, in lower case: csv for " CSV", ".csv" and
// "text/csv; charset=utf-8".
func Form(format string) string {
	format, _, _ = strings.Cut(strings.ToLower(format), ";")
	format = strings.Trim(format[strings.LastIndexByte(format, '/')+1:], ". \t\u00a0")
	return strings.ReplaceAll(format, " ", "")
}

// MayHaveRows reports whether a file may be a table, by its format, or else by the ending of its
// name. A table that is called something else costs rows, so that anything unknown may be one.
func MayHaveRows(format, name string) bool {
	name = path.Base(name)
	form := Form(format)
	if form == "" {
		form = Form(path.Ext(name))
	}
	return strings.Contains(strings.ToLower(name), ".csv") ||
		!strings.Contains(notTables, " "+form+" ") && !aboutFiles.MatchString(name)
}

// Text is a text in a description that others write, where it may be a number, or the first of a
// list. Anything else is empty: a fault in one field must not hide a package.
type Text string

// UnmarshalJSON decodes the text.
func (t *Text) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		return json.Unmarshal(data, (*string)(t))
	case '{', 'n':
		*t = ""
	case '[':
		d := json.NewDecoder(bytes.NewReader(data))
		_, _ = d.Token() // [
		first, _ := d.Token()
		text, _ := first.(string)
		*t = Text(text)
	default:
		*t = Text(data)
	}
	return nil
}
