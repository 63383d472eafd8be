package contract

// Provisional is which rows of a list are provisional: their source will replace them. It is
// declared, never guessed from dates: risks of 2024 are published in 2023, and the presence of
// organisations ends in years to come.
type Provisional uint8

// The declarations. Unfinished are rows of a period that had not ended when their resource was last
// changed. NotFinal are rows whose version is not final.
const (
	Never Provisional = iota
	Unfinished
	NotFinal
)

// IsUnfinished reports whether rows of a period that ends at a time are provisional, if their
// resource was last changed at another, both in microseconds. Zero is an unknown time.
func (e *Endpoint) IsUnfinished(end, updated int64) bool {
	return e.Provisional == Unfinished && updated != 0 && end > updated
}
