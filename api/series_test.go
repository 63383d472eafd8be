//go:build !race

package api

import (
	"math/rand/v2"
	"testing"

	"github.com/valyala/fasthttp"

	"hdqs/api/state"
)

// TestRandomURLsAddNoSeries checks that what clients ask for creates no series: there is at most
// one for each combination of fixed labels.
func TestRandomURLsAddNoSeries(t *testing.T) {
	t.Parallel()
	s := sampleServer(t, state.Options{}, 30)
	admin := listenAdmin(t, s)
	var ctx fasthttp.RequestCtx
	ctx.Init2(s.Callers.Wrap(nil), nil, true)
	request := func(target string) {
		ctx.Request.Reset()
		ctx.Response.Reset()
		ctx.Request.SetRequestURI(target)
		s.handlePublic(&ctx)
	}
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		letters := make([]byte, 1+random.IntN(20))
		for i := range letters {
			letters[i] = "abcdefghijklmnopqrstuvwxyz/._-%20"[random.IntN(33)]
		}
		return "q" + string(letters) // no route begins so
	}
	request("/nowhere")
	request("/api/v2/nowhere?app_identifier=" + goodIdentifier)
	request("/api/v2/nowhere")
	request(listTarget + "&unknown=1")
	request("/api/v2/metadata/location?unknown=1")
	before := readMetrics(t, admin)
	for range 10_000 {
		switch target := "/" + word() + "?" + word() + "=" + word(); random.IntN(4) {
		case 0:
			request(target + "&app_identifier=" + goodIdentifier)
		case 1:
			request("/api/v2/metadata" + target)
		case 2:
			request("/api/v2/metadata/" + target + "&app_identifier=" + goodIdentifier)
		default:
			request(listTarget + "&" + word() + "=" + word() + "&unknown" + word() + "=" + word())
		}
	}
	after := readMetrics(t, admin)
	for series := range after {
		if _, known := before[series]; !known {
			t.Errorf("random URLs have created the series %s", series)
		}
	}
	if n := requestsWith(after, `endpoint="other"`) - requestsWith(before, `endpoint="other"`); n < 5000 {
		t.Errorf("%v requests of unknown paths were counted", n)
	}
}
