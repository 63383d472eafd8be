package browse

import (
	"net/url"
	"testing"
)

// TestShorten: a table has its first lines and leads to a page with all of them, which leaves out
// none, and times are not left out.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		rows  int
		times bool
		query string
		shown int
		all   string
	}{
		{shownFigures, false, "by=x", shownFigures, ""},
		{shownFigures + 1, false, "by=x", shownFigures, "/p?by=x&more=figures#figure-heading"},
		{shownFigures + 1, false, "by=x&more=figures", shownFigures + 1, ""},
		{shownFigures + 1, true, "by=x", shownFigures + 1, ""},
	} {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		x := &figure{ID: firstID, Data: data{Rows: make([][]cell, c.rows), Times: c.times}}
		x.shorten(state{path: "/p", values: values})
		if len(x.Data.Rows) != c.shown || x.Data.More != c.rows-c.shown || x.Data.All != c.all {
			t.Errorf("%+v: %d rows, %d more, %q", c, len(x.Data.Rows), x.Data.More, x.Data.All)
		}
	}
}
