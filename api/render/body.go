package render

import "hdqs/index"

// Body renders a body in parts. Its length is known in advance, and it takes the memory of one part
// only: a part is still in the second-level cache when it is sent, and a slow client occupies a
// part instead of the whole. A Body is for one goroutine and must not be used after the Close of
// its renderer's segment.
type Body struct {
	form   *Form
	ranges []index.Range // still to be rendered, the first of them from row from on
	from   uint32
	length int
	begun  bool
}

// partBytes is the least length of a part, except for the last one: little enough for a
// second-level cache of 1 MB. Between two parts a fast client waits, and waking it costs the sender
// more than copying does.
const partBytes = 512 << 10

// Start starts the body of the rows of ranges, none of which is empty. The caller must not change
// ranges until the body is complete.
func (b *Body) Start(f *Form, ranges []index.Range) {
	*b = Body{form: f, ranges: ranges, length: f.Length(ranges)}
	if len(ranges) > 0 {
		b.from = ranges[0].From
	}
}

// Len returns the length of the whole body.
func (b *Body) Len() int { return b.length }

// AppendPart appends the next part and reports whether there are more.
func (b *Body) AppendPart(dst []byte) (_ []byte, more bool) {
	f, start := b.form, len(dst)
	if !b.begun {
		b.begun = true
		dst = append(dst, f.head...)
	}
	rows := f.newBatch()
	rendered := false
	ranges, from := b.ranges, b.from // in registers: many ranges have one row
	for len(ranges) > 0 && len(dst)-start < partBytes {
		if from = rows.Add(from, ranges[0].To, batch); from == ranges[0].To {
			if ranges = ranges[1:]; len(ranges) > 0 {
				from = ranges[0].From
			}
		}
		if rows.Len() == batch || len(ranges) == 0 {
			dst, rendered = f.appendBatch(dst, rows), true
		}
	}
	b.ranges, b.from = ranges, from
	f.batches.Put(rows)
	if len(b.ranges) > 0 {
		return dst, true
	}
	if rendered {
		dst = dst[:len(dst)-f.cut]
	}
	return append(dst, f.tail...), false
}
