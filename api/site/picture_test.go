package site

import (
	"testing"

	"hdqs/api/browse"
	"hdqs/api/contract"
	"hdqs/api/country"
	"hdqs/api/lang"
	"hdqs/api/list"
)

// TestCountryCard: the picture of a country has the language of its page.
func TestCountryCard(t *testing.T) {
	t.Parallel()
	for _, l := range lang.All()[1:] {
		page := new(country.Page)
		for i := range contract.Headlines {
			page.Tiles = append(page.Tiles, country.Tile{Headline: &contract.Headlines[i]})
		}
		card := cardOfCountry(place{new(list.Mount), l}, page, new(browse.Share))
		for i, tile := range card.Tiles {
			if h := &contract.Headlines[i]; tile.Title != l.T(h.Title) || tile.Unit != l.T(h.Unit) {
				t.Errorf("%s: %q, %q", l.Code, tile.Title, tile.Unit)
			}
		}
	}
}
