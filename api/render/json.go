package render

// jsonDialect writes records as Python's json.dumps(ensure_ascii=False, separators=(",", ":"))
// does, so that bodies equal those of the incumbent byte for byte.
type jsonDialect struct{}

func (jsonDialect) head([]boundField) []byte { return []byte(`{"data":[`) }
func (jsonDialect) tail() []byte             { return []byte(`]}`) }
func (jsonDialect) cut() int                 { return len(",") }
func (jsonDialect) end() []byte              { return []byte(`},`) }
func (jsonDialect) null() []byte             { return []byte(`null`) }

func (jsonDialect) before(i int, name string) []byte {
	open := byte(',')
	if i == 0 {
		open = '{'
	}
	return append(AppendJSONText([]byte{open}, name), ':')
}

func (jsonDialect) appendText(dst []byte, s string) []byte { return AppendJSONText(dst, s) }

func (jsonDialect) appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

func (jsonDialect) appendTime(dst []byte, micros int64) []byte {
	return append(appendTime(append(dst, '"'), micros, 'T'), '"')
}

// linesDialect writes NDJSON: each record of JSON is a line. All fragments but the last of a record
// are those of JSON.
type linesDialect struct{ jsonDialect }

func (linesDialect) head([]boundField) []byte { return nil }
func (linesDialect) tail() []byte             { return nil }
func (linesDialect) cut() int                 { return 0 }
func (linesDialect) end() []byte              { return []byte("}\n") }

// AppendJSONText appends s as a JSON string. It escapes only the quote, the backslash and control
// characters below U+0020; everything else, including <, U+007F and U+2028, is unchanged.
func AppendJSONText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	if isPlain(s) {
		return append(append(dst, s...), '"')
	}
	clean := 0
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= ' ' && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, s[clean:i]...)
		clean = i + 1
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		}
	}
	dst = append(dst, s[clean:]...)
	return append(dst, '"')
}

// isPlain reports whether a JSON string needs no escapes for s. It looks at eight bytes at a time.
func isPlain(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	at := func(i int) uint64 {
		return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
	}
	i := 0
	for ; i+8 <= len(s); i += 8 {
		x := at(i)
		// x-ones*n sets the high bit of each byte below n, and &^x ignores bytes that had it
		// before. A borrow may set the bit of the next byte wrongly. But it comes only from a byte
		// that is below n itself, so the whole result is right.
		quote, slash := x^'"'*ones, x^'\\'*ones
		if ((x-' '*ones)&^x|(quote-ones)&^quote|(slash-ones)&^slash)&highs != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if b := s[i]; b < ' ' || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}
