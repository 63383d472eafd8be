package render

// The compiler moves arrays of up to 16 bytes by two instructions. For longer ones that may overlap
// it calls memmove, so moves of a fixed size are made of ones of 16 bytes.

// move32 copies 32 bytes.
func move32(to, from []byte) {
	d, s := (*[32]byte)(to), (*[32]byte)(from[:32])
	*(*[16]byte)(d[:16]) = *(*[16]byte)(s[:16])
	*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
}

// move64 copies 64 bytes.
func move64(to, from []byte) {
	d, s := (*[64]byte)(to), (*[64]byte)(from[:64])
	*(*[16]byte)(d[:16]) = *(*[16]byte)(s[:16])
	*(*[16]byte)(d[16:32]) = *(*[16]byte)(s[16:32])
	*(*[16]byte)(d[32:48]) = *(*[16]byte)(s[32:48])
	*(*[16]byte)(d[48:]) = *(*[16]byte)(s[48:])
}
