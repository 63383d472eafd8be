package site

import (
	"strings"
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
			page.Tiles = append(page.Tiles, country.Tile{Headline: contract.Headlines[i], Age: "old"})
		}
		part := country.Tile{Headline: contract.Headlines[0], Mark: "a part"}
		page.Tiles = append(page.Tiles, part)
		card := cardOfCountry(place{new(list.Mount), l}, page, new(browse.Share))
		if n := len(card.Tiles); n != len(contract.Headlines) || !strings.Contains(card.Tiles[0].About, "old") {
			t.Errorf("%s: %d figures, which are %q", l.Code, n, card.Tiles[0].About)
		}
		for i, tile := range card.Tiles {
			if h := contract.Headlines[i]; tile.Title != l.T(h.Title) || tile.Unit != l.T(h.Unit) {
				t.Errorf("%s: %q, %q", l.Code, tile.Title, tile.Unit)
			}
		}
	}
}
