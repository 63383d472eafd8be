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

// AppendJSONText appends s as a JSON string. It escapes only the quote, the backslash and control
// characters below U+0020; everything else, including <, U+007F and U+2028, is unchanged.
func AppendJSONText(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
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
