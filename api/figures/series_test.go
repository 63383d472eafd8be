package figures

import (
	"maps"
	"testing"
)

// TestPackSeries: series of places that were packed with the times of all are the same again.
func TestPackSeries(t *testing.T) {
	t.Parallel()
	all := map[string]map[string]string{
		"AFG": nil, "MLI": {"2024-02": "3", "2023-11": "0"}, "SDN": {"2024-03": "1", "2021-01": "2.5"},
		"TCD": {"0000-12": "7"},
	}
	times := timesOf(all)
	if len(times) != 5 || times[0] != "2024-03" {
		t.Fatalf("times %q", times)
	}
	for code, of := range all {
		if got := unpackSeries(packSeries(of, times), times); !maps.Equal(got, of) {
			t.Errorf("%s: %v became %v", code, of, got)
		}
	}
	if got := unpackSeries("1,x,3,4,5,6,7", times); len(got) != 4 {
		t.Errorf("values without a time, or that are no numbers, became %v", got)
	}
}
