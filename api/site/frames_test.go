//go:build !race

package site_test

import (
	"strings"
	"testing"

	"hdqs/api/apitest"
	"hdqs/api/contract"
	"hdqs/api/state"
)

// TestBrowserFrames: in the height that the code of a frame has, each drawing is there with its
// title, its source and the way to its page, at three widths, and nothing of that must be scrolled
// to.
func TestBrowserFrames(t *testing.T) {
	t.Parallel()
	apitest.NeedEdge(t)
	p := newPageChecker(t, apitest.Sample(t, state.Options{}, 120))
	for _, view := range contract.Views {
		name := view.Path[strings.LastIndexByte(view.Path, '/')+1:]
		for _, width := range []int{360, 680, 1000} {
			p.Size(width, 560, false)
			p.Goto(p.address + "/embed/" + name)
			outside := p.Eval(`["h1", ".second", ".drawing svg", "main > p:last-child a"].filter((what) => {
				const all = document.querySelectorAll(what), at = all.length && all[all.length - 1].getBoundingClientRect();
				return !at || at.top < 0 || at.bottom > 560 + 1 || at.height < 12;
			}).join(", ") + (document.querySelector("main").scrollHeight > 562 ? " scrolled" : "")`)
			if outside != "" && !strings.Contains(p.Eval("document.body.textContent"), "No figure") {
				t.Errorf("%s at %d px: outside the frame: %s", name, width, outside)
			}
		}
	}
}
