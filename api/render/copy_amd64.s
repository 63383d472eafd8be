#include "go_asm.h"
#include "textflag.h"

// func copyRowsAVX2(to *byte, lanes *joinedLane, n, rows int) (end *byte)
//
// DI to, SI from, CX bytes left; R8 lanes, R9 n, R10 rows left; R11 the row's offset in texts;
// R12 lane, R13 lanes left.
TEXT ·copyRowsAVX2(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ lanes+8(FP), R8
	MOVQ n+16(FP), R9
	MOVQ rows+24(FP), R10
	XORQ R11, R11

row:
	MOVQ R8, R12
	MOVQ R9, R13

lane:
	// DX = texts == nil ? &same : &texts[row]
	MOVQ    joinedLane_texts(R12), AX
	LEAQ    joinedLane_same(R12), BX
	LEAQ    (AX)(R11*1), DX
	TESTQ   AX, AX
	CMOVQEQ BX, DX
	MOVQ    0(DX), SI
	MOVQ    8(DX), CX

move:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ    $64, SI
	ADDQ    $64, DI
	SUBQ    $64, CX
	JGT     move
	ADDQ    CX, DI // back by what was moved beyond the text

	ADDQ $joinedLane__size, R12
	DECQ R13
	JNZ  lane

	ADDQ $24, R11 // a slice
	DECQ R10
	JNZ  row

	VZEROUPPER
	MOVQ DI, end+32(FP)
	RET
