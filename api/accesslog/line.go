package accesslog

import (
	"slices"
	"strconv"
	"time"
)

// Line is what is logged of a request. Empty texts and negative numbers are left out.
type Line struct {
	ID       []byte // of the request, as the answer has it
	Method   []byte
	Endpoint string
	Query    []byte // canonical
	Status   int
	Bytes    int64 // of the body
	Coding   []byte
	Took     time.Duration
	Rows     int
	Total    int
	Cache    string
	App      string // see Hash
}

// methods are the methods that are logged by name. Others could be any text.
var methods = []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}

func methodOf(name []byte) string {
	if len(name) == 0 {
		return "" // the request could not be read
	}
	if i := slices.Index(methods, string(name)); i >= 0 {
		return methods[i]
	}
	return "other"
}

// Write logs a request if it is selected. Nothing in the line is kept.
func (l *Log) Write(r *Line) {
	if !l.wants(r.Status) {
		return
	}
	buffer := buffers.Get().(*[]byte)
	b := append((*buffer)[:0], `{"ts":"`...)
	b = time.Now().UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z07:00")
	b = append(b, '"')
	b = appendText(b, "id", r.ID)
	b = appendText(b, "method", methodOf(r.Method))
	b = appendText(b, "endpoint", r.Endpoint)
	b = appendText(b, "query", r.Query)
	b = appendInt(b, "status", int64(r.Status))
	b = appendInt(b, "bytes", r.Bytes)
	b = appendText(b, "coding", r.Coding)
	b = appendInt(b, "dur_us", r.Took.Microseconds())
	b = appendInt(b, "rows", int64(r.Rows))
	b = appendInt(b, "total", int64(r.Total))
	b = appendText(b, "cache", r.Cache)
	b = appendText(b, "app", r.App)
	*buffer = append(b, "}\n"...)
	l.send(buffer)
}

// appendText appends a key with a text. All texts of a line are printable ASCII without quotes and
// backslashes: words of ours, digits, or percent-encoded. Anything else is left out, so that no
// line can be broken or forged.
func appendText[T string | []byte](b []byte, key string, text T) []byte {
	if len(text) == 0 {
		return b
	}
	from := len(b)
	b = append(append(append(b, `,"`...), key...), `":"`...)
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return b[:from]
		}
		b = append(b, c)
	}
	return append(b, '"')
}

func appendInt(b []byte, key string, n int64) []byte {
	if n < 0 {
		return b
	}
	b = append(append(append(b, `,"`...), key...), `":`...)
	return strconv.AppendInt(b, n, 10)
}
