package render

import "hdqs/index"

// Body is a body on its way out in parts: its length is known ahead, and its memory is that of one part. A part still lies in the second cache when
// it is sent, and a slow client holds a part and not the whole. It is for one goroutine, and must
// not be used after the Close of its renderer's segment.
type Body struct {
	form   *Form
	ranges []index.Range // the first of them has rows from on to come
	from   uint32
	length int
	begun  bool
}

// partBytes is how long a part is at least, but for the last: an eighth of a second cache of 1 MB.
const partBytes = 128 << 10

// Start begins the body of the rows of ranges, none of them empty, which stay the caller's and must not change until the body's end.
func (b *Body) Start(f *Form, ranges []index.Range) {
	*b = Body{form: f, ranges: ranges, length: f.Length(ranges)}
	if len(ranges) > 0 {
		b.from = ranges[0].From
	}
}

// Len is the length of the whole body.
func (b *Body) Len() int { return b.length }

// AppendPart appends the next part, and tells whether there are more.
func (b *Body) AppendPart(dst []byte) (_ []byte, more bool) {
	f, start := b.form, len(dst)
	if !b.begun {
		b.begun = true
		dst = append(dst, f.head...)
	}
	rows := f.newBatch()
	rendered := false
	for len(b.ranges) > 0 && len(dst)-start < partBytes {
		if b.from = rows.add(b.from, b.ranges[0].To); b.from == b.ranges[0].To {
			if b.ranges = b.ranges[1:]; len(b.ranges) > 0 {
				b.from = b.ranges[0].From
			}
		}
		if rows.n == batch || len(b.ranges) == 0 {
			dst, rendered = f.appendBatch(dst, rows), true
		}
	}
	f.batches.Put(rows)
	if len(b.ranges) > 0 {
		return dst, true
	}
	if rendered {
		dst = dst[:len(dst)-f.cut]
	}
	return append(dst, f.tail...), false
}
