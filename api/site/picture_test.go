package site

import (
	"strconv"
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

// TestPictures: pictures are kept up to a number of bytes, the newest ones.
func TestPictures(t *testing.T) {
	t.Parallel()
	var p pictures
	for i := range 200 {
		key := strconv.Itoa(i)
		p.put(key, make([]byte, 1+i*500))
		p.put(key, make([]byte, 7)) // it is there
		if body := p.get(key); len(body) != 1+i*500 {
			t.Errorf("picture %d has %d bytes", i, len(body))
		}
	}
	bytes := 0
	for key, body := range p.bodies {
		bytes += len(key) + len(body)
	}
	if bytes != p.bytes || bytes > maxPictures || len(p.order) != len(p.bodies) || bytes < maxPictures/2 {
		t.Errorf("%d bytes of %d pictures, counted as %d of %d", bytes, len(p.bodies), p.bytes, len(p.order))
	}
	p.put("newest", make([]byte, 10))
	if p.get("newest") == nil || p.get("0") != nil {
		t.Error("the newest picture is not kept, or the oldest is")
	}
	if p.put("large", make([]byte, maxPictures+1)); p.get("large") != nil || p.get("newest") == nil {
		t.Error("a picture that is too large is kept")
	}
}
