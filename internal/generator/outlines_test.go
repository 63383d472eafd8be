package generator

import "testing"

// TestMarketsOnLand: markets that have a place have one on the land of their country, and few of a
// country that the map has are without one.
func TestMarketsOnLand(t *testing.T) {
	t.Parallel()
	for scale, seed := range map[float64]uint64{0: 1, 0.01: 12} {
		w := newWorld(Options{Seed: seed, Scale: scale})
		placed, without := 0, 0
		for i, m := range w.markets {
			country := m.at.location().iso3
			o := outlines()[country]
			switch {
			case i == 5: // at the edge of the map, on purpose
			case o == nil && !m.lat.isNull():
				t.Errorf("%s of %s, which the map does not have, is at %v, %v", m.name, country, m.lat, m.lon)
			case o != nil && m.at.level != "0" && m.lat.isNull():
				without++
			case !m.lat.isNull() && !o.has(float64(m.lon.n)/10, float64(m.lat.n)/10):
				t.Errorf("%s is at %v, %v, which is not in %s", m.name, m.lat, m.lon, country)
			default:
				placed++
			}
		}
		if placed < len(w.markets)/2 || without > len(w.markets)/10 {
			t.Errorf("%d of %d markets have a place, %d lack one", placed, len(w.markets), without)
		}
	}
	kabul := outlines()["AFG"]
	if !kabul.has(692, 345) || kabul.has(692, 300) {
		t.Error("Kabul is not in Afghanistan, or Islamabad is")
	}
}
