package render

// The compiler moves arrays of up to 16 bytes by two instructions. For longer ones that may overlap
// it calls memmove, so moves of a fixed size are made of ones of 16 bytes.

func move32(to, from []byte) {
	d, s := (*[32]byte)(to), (*[32]byte)(from[:32])
	*(*[16]byte)(d[:16]) = *(*[16]byte)(s[:16])
	*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
}

func move64(to, from []byte) {
	d, s := (*[64]byte)(to), (*[64]byte)(from[:64])
	*(*[16]byte)(d[:16]) = *(*[16]byte)(s[:16])
	*(*[16]byte)(d[16:32]) = *(*[16]byte)(s[16:32])
	*(*[16]byte)(d[32:48]) = *(*[16]byte)(s[32:48])
	*(*[16]byte)(d[48:]) = *(*[16]byte)(s[48:])
}

// appendTexts appends the texts of rows, lane after lane in each, which have size bytes. The memory
// of dst has room for them and overshoot bytes more.
func appendTexts(dst []byte, lanes []joinedLane, rows, size int) []byte {
	room := dst[:len(dst)+size+overshoot]
	if hasAVX2 {
		end := copyRowsAVX2(&room[len(dst)], &lanes[0], len(lanes), rows)
		if end != &room[len(dst)+size] {
			panic("render: the texts of rows do not have the length that was added up")
		}
	} else {
		copyRows(room[len(dst):], lanes, rows)
	}
	return dst[:len(dst)+size]
}

// copyRows copies the texts of rows to the beginning of to, which has overshoot bytes after them.
func copyRows(to []byte, lanes []joinedLane, rows int) {
	for k := range rows {
		for i := range lanes {
			l := &lanes[i]
			text := l.same
			if l.texts != nil {
				text = l.texts[k]
			}
			// Moves of a fixed size need no call. What they write after the text is overwritten by
			// the next.
			switch {
			case len(text) <= 32:
				move32(to, text)
			case len(text) <= overshoot:
				move64(to, text)
			default:
				copy(to, text)
			}
			to = to[len(text):]
		}
	}
}
