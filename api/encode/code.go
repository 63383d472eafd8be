package encode

// codeTable is the code of a DEFLATE block. Every symbol has a code, so that it can write whatever
// follows.
type codeTable struct {
	litLenLengths [litLenCodes]uint8
	distLengths   [distCodes]uint8
	litLen        [litLenCodes]code
	dist          [32]code           // distCodes of them
	length        [maxMatch + 1]code // of each match length, with its extra bits
}

// codes assigns codes according to the code lengths.
func (t *codeTable) codes() {
	canonical(t.litLen[:], t.litLenLengths[:])
	canonical(t.dist[:distCodes], t.distLengths[:])
	first := uint32(minMatch)
	for n := minMatch; n <= maxMatch; n++ {
		s := lengthSymbol[n]
		if s != lengthSymbol[n-1] {
			first = uint32(n)
		}
		c := t.litLen[s]
		t.length[n] = c + code(uint32(n)-first)<<(8+c.len()) + code(lengthExtra[n])
	}
}

// fixedCode is the predefined code of DEFLATE.
var fixedCode = func() *codeTable {
	var t codeTable
	var lengths [litLenCodes + 2]uint8
	for s := range lengths {
		switch {
		case s < 144, s >= 280:
			lengths[s] = 8
		case s < 256:
			lengths[s] = 9
		default:
			lengths[s] = 7
		}
	}
	var codes [litLenCodes + 2]code
	canonical(codes[:], lengths[:])
	copy(t.litLenLengths[:], lengths[:])
	for s := range t.distLengths {
		t.distLengths[s] = 5
	}
	t.codes()
	copy(t.litLen[:], codes[:])
	return &t
}()

// fixedBlock is fixedCode, which needs no description: it is for a few rows, as between stored
// blocks.
var fixedBlock = &blockCode{table: *fixedCode}
