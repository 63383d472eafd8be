package api

import (
	"testing"
	"time"

	"hdqs/api/state"
	"hdqs/internal/browser"
)

// TestBrowserAlone: the chart that a script draws has a dot for a figure between two gaps, also in
// a series that is too long for a mark at each figure.
func TestBrowserAlone(t *testing.T) {
	t.Parallel()
	needEdge(t)
	tables := sampleTables(t, 3)
	for _, table := range tables {
		for i, row := range table.rows {
			if _, has := row["reference_period_start"]; has {
				row["reference_period_start"] = time.Date(1994+15*i, 1, 1, 0, 0, 0, 0, time.UTC)
			}
		}
	}
	address := listen(t, serverOf(t, state.Options{}, storeSnapshot(t, "alone", sampleTime, tables)))
	p := browser.Open(t)
	p.Media("screen", "light")
	p.Goto("http://" + address + "/browse/conflict-events?measure=records&by=month")
	p.Wait(`document.querySelector("#series canvas")`)
	const blue = `(() => {
		const c = document.querySelector("#series canvas");
		const all = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let n = 0;
		for (let i = 0; i < all.length; i += 4) n += all[i] === 0x1f && all[i + 1] === 0x6b && all[i + 2] === 0xa3;
		return n > 30;
	})()`
	p.Wait(blue)
	if n := p.Eval(`document.querySelectorAll("#series circle").length`); n != "3" {
		t.Errorf("%s dots without a script, want 3", n)
	}
}
