package site

import (
	"slices"
	"strings"

	"hdqs/api/browse"
	"hdqs/api/country"
	"hdqs/api/picture"
)

// newCard is a picture of a place, with its language and the mark of figures that are made up.
func newCard(p place, share *browse.Share) *picture.Card {
	c := &picture.Card{Language: p.Language, Title: share.Title, Service: browse.ServiceTitle, Address: share.Address}
	if p.MadeUp {
		c.MadeUp = p.T("These figures are made up: a sample to try the program with.")
	}
	return c
}

// card is the picture of a page's first drawing.
func (of *view) card(page *browse.Page) *picture.Card {
	x, c := page.Drawn.Figure, newCard(of.pages.at, page.Share)
	c.Title, c.Second, c.Facts, c.Chart = x.Title, x.Second, x.About.Rest(c.Language), x.Chart.Drawing
	c.Key, c.More = x.Chart.Key, x.Chart.Left
	for _, shade := range x.Chart.Legend {
		c.Legend = append(c.Legend, picture.Key{Class: x.Chart.Drawing.Class + " " + shade.Class, Text: shade.Text})
	}
	if x.Map.Blank {
		c.Legend = append(c.Legend, picture.Key{Class: "none", Text: of.pages.at.T("no figure")})
	}
	for _, line := range x.Chart.Lines {
		c.Legend = append(c.Legend, picture.Key{Class: line.Class, Text: line.Name, Line: true})
	}
	notes := x.Limits(of.pages.at.Language)
	if chosen := page.Share.Filters; chosen != "" {
		notes = append(notes, c.Language.T("This figure shows:")+" "+chosen+".")
	}
	c.Notes = strings.Join(notes, " ")
	return c
}

// cardOfCountry is the picture of a country's headline figures.
func cardOfCountry(p place, page *country.Page, share *browse.Share) *picture.Card {
	c := newCard(p, share)
	for i := range page.Tiles {
		t := &page.Tiles[i]
		if t.Mark != "" {
			continue // a part has no place among whole figures
		}
		about := []string{t.Period, t.Age, t.Coverage, t.Provider}
		about = slices.DeleteFunc(about, func(text string) bool { return text == "" })
		c.Tiles = append(c.Tiles, picture.Tile{
			Title: p.T(t.Title), Value: t.Value, Unit: p.T(t.Unit), About: p.List(about),
		})
	}
	return c
}

// Pictures that were drawn are kept for those who ask for them again, such as the programs that
// show previews of a link: at most so many bytes.
const maxPictures = 4 << 20
