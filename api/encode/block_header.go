package encode

// blockHeader describes the code of a block: the code lengths of both alphabets, run-length
// encoded, in a separate Huffman code (RFC 1951, 3.2.7).
type blockHeader struct {
	litLen  int // number of lengths sent, of each alphabet
	dist    int
	sent    int // and of the code length code itself
	size    uint
	symbols []uint16 // extra bits above 5 bits of symbol
	counts  [19]uint32
	lengths [19]uint8
	codes   [19]code
}

// codeLengthOrder is the order in which the lengths of the code length code are sent.
var codeLengthOrder = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// codeLengthExtra is the number of extra bits of each symbol. Three symbols repeat a length: the
// last one 3 to 6 times, zero 3 to 10 times, and zero 11 to 138 times.
var codeLengthExtra = [19]uint8{16: 2, 17: 3, 18: 7}

const maxCodeLengthLen = 7

func (h *blockHeader) build(huffman *huffman, t *codeTable) {
	h.litLen, h.dist = len(t.litLenLengths), len(t.distLengths)
	for h.litLen > 257 && t.litLenLengths[h.litLen-1] == 0 {
		h.litLen--
	}
	for h.dist > 1 && t.distLengths[h.dist-1] == 0 {
		h.dist--
	}
	h.symbols = h.symbols[:0]
	clear(h.counts[:])
	var all [litLenCodes + distCodes]uint8
	n := copy(all[:], t.litLenLengths[:h.litLen])
	n += copy(all[n:], t.distLengths[:h.dist])
	h.runs(all[:n])
	used := 0
	for _, c := range h.counts {
		if c > 0 {
			used++
		}
	}
	for s := 0; used < 2; s++ {
		if h.counts[s] == 0 {
			h.counts[s] = 1
			used++
		}
	}
	huffman.lengths(h.lengths[:], h.counts[:], maxCodeLengthLen)
	canonical(h.codes[:], h.lengths[:])
	h.sent = len(codeLengthOrder)
	for h.sent > 4 && h.lengths[codeLengthOrder[h.sent-1]] == 0 {
		h.sent--
	}
	h.size = 5 + 5 + 4 + 3*uint(h.sent)
	for s, c := range h.counts {
		h.size += uint(c) * uint(h.lengths[s]+codeLengthExtra[s])
	}
}

// runs run-length encodes lengths.
func (h *blockHeader) runs(all []uint8) {
	for i := 0; i < len(all); {
		l := all[i]
		run := 1
		for i+run < len(all) && all[i+run] == l {
			run++
		}
		i += run
		if l > 0 {
			h.add(uint16(l), 0)
			run--
		}
		for run >= 3 {
			switch {
			case l > 0:
				n := min(run, 6)
				h.add(16, uint16(n-3))
				run -= n
			case run <= 10:
				h.add(17, uint16(run-3))
				run = 0
			default:
				n := min(run, 138)
				h.add(18, uint16(n-11))
				run -= n
			}
		}
		for range run {
			h.add(uint16(l), 0)
		}
	}
}

func (h *blockHeader) add(symbol, extra uint16) {
	h.symbols = append(h.symbols, symbol|extra<<5)
	h.counts[symbol]++
}

func (h *blockHeader) write(w *bitWriter) {
	w.write(uint64(h.litLen-257), 5)
	w.write(uint64(h.dist-1), 5)
	w.write(uint64(h.sent-4), 4)
	for _, s := range codeLengthOrder[:h.sent] {
		w.write(uint64(h.lengths[s]), 3)
	}
	for _, s := range h.symbols {
		c := h.codes[s&31]
		w.write(c.bits()|uint64(s>>5)<<c.len(), c.len()+uint(codeLengthExtra[s&31]))
	}
}
