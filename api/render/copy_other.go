//go:build !amd64

package render

const hasAVX2 = false

func copyRowsAVX2(*byte, *joinedLane, int, int) *byte { panic("render: this processor has no AVX2") }
