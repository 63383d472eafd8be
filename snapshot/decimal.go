package snapshot

// Dec is an exact decimal: Mantissa / 10^Scale, without trailing zeros in Mantissa while Scale > 0 (0 is {0,0}).
// Two scales are reserved: DecNull is null; DecText says that Mantissa is a position in a column's list of exact texts,
// for the few values that do not fit or whose shortest float64 form differs from their exact form.
type Dec struct {
	Mantissa int64
	Scale    uint8
}

// Reserved scales of Dec.
const (
	DecNull = 255
	DecText = 254
	// MaxScale is the largest ordinary scale.
	MaxScale = 18
)
