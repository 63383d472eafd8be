package generator

import (
	"strconv"
	"strings"
)

// line builds CSV lines. It quotes only cells that need it. psql also quotes the empty string,
// which differs from null.
type line struct {
	buf   []byte
	psql  bool
	ends  string
	begun bool
}

func (l *line) cell() {
	if l.begun {
		l.buf = append(l.buf, ',')
	}
	l.begun = true
}

func (l *line) end() {
	l.buf = append(l.buf, l.ends...)
	l.begun = false
}

func (l *line) text(s string) {
	if s == "" {
		if l.psql {
			l.buf = append(l.buf, `""`...)
		}
		return
	}
	if strings.ContainsAny(s, ",\"\n\r") {
		s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	l.buf = append(l.buf, s...)
}

// nullable writes text; empty text is null.
func (l *line) nullable(s string) {
	if s != "" {
		l.text(s)
	}
}

func (l *line) int(n int) { l.buf = strconv.AppendInt(l.buf, int64(n), 10) }

func (l *line) nullableInt(n int, null bool) {
	if !null {
		l.int(n)
	}
}

func (l *line) number(n number) {
	if !n.isNull() {
		l.buf = n.append(l.buf)
	}
}

func (l *line) day(d day) {
	if d != noDay {
		l.buf = appendDay(l.buf, d)
	}
}

func (l *line) time(d day, clock string) {
	if d != noDay {
		l.day(d)
		l.buf = append(l.buf, clock...)
	}
}

func (l *line) flag(b bool, yes, no string) {
	if b {
		l.buf = append(l.buf, yes...)
	} else {
		l.buf = append(l.buf, no...)
	}
}

// null is a cell that is null. psql writes an empty text in another way.
const null = "\x00"

func (l *line) row(cells ...string) {
	for _, c := range cells {
		if l.cell(); c != null {
			l.text(c)
		}
	}
	l.end()
}
