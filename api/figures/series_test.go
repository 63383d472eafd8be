package figures

import (
	"maps"
	"testing"
)

// TestPackSeries: a series that was packed is the same again, and one over more than two centuries,
// or of a year that no calendar counts back to, is not packed.
func TestPackSeries(t *testing.T) {
	t.Parallel()
	for _, of := range []map[string]string{
		nil, {"2024": "1"}, {"2024": "1", "2021": "2.5"}, {"2024-02": "3", "2023-11": "0"},
	} {
		if got := unpackSeries(packSeries(of)); !maps.Equal(got, of) {
			t.Errorf("%v became %v", of, got)
		}
	}
	for _, of := range []map[string]string{
		{"2024": "1", "0050": "2"}, {"2024-01": "1", "0000-12": "2"}, {"9999-12": "1", "1900-01": "2"},
	} {
		if got := packSeries(of); got != tooLong {
			t.Errorf("%v became %.60s", of, got)
		}
	}
}
