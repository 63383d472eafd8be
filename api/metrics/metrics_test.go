package metrics

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"hdqs/internal/testkit"
)

// gather returns metrics by their family.
func gather(t *testing.T, r *prometheus.Registry) map[string][]*dto.Metric {
	t.Helper()
	families := testkit.Value(r.Gather())(t)
	all := map[string][]*dto.Metric{}
	for _, f := range families {
		all[f.GetName()] = f.GetMetric()
	}
	return all
}

// labelsOf returns the labels of a metric as one text.
func labelsOf(m *dto.Metric) (text string) {
	for _, pair := range m.GetLabel() {
		text += pair.GetName() + "=" + pair.GetValue() + " "
	}
	return text
}

// TestRequests counts in several goroutines while others collect, and compares with a plain count.
func TestRequests(t *testing.T) {
	t.Parallel()
	names := []string{"other", "org", "sector"}
	formats := []string{"other", "json", "csv"}
	registry := prometheus.NewPedanticRegistry()
	r := NewRequests(registry, names, formats[1:])
	type outcome struct {
		endpoint, status int
		format           Format
		coding           string
	}
	const goroutines, each = 8, 2000
	var mu sync.Mutex
	requests, durations, bytes := map[string]float64{}, map[string]uint64{}, map[string]float64{}
	var counting, collecting sync.WaitGroup
	stop := make(chan struct{})
	collecting.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if n := gather(t, registry)["hdqs_http_in_flight"][0].GetGauge().GetValue(); n < 0 || n > goroutines*each {
				t.Errorf("%v requests in flight", n)
			}
		}
	})
	for g := range goroutines {
		counting.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 3))
			for range each {
				o := outcome{
					random.IntN(len(names)), []int{200, 304, 404, 418, 503}[random.IntN(5)], Format(random.IntN(3)),
					[]string{"", "gzip", "zstd", "br"}[random.IntN(4)],
				}
				r.Begin()
				r.Count(o.endpoint, o.format, o.status)
				r.Sent(o.endpoint, o.status, []byte(o.coding), time.Millisecond, 10)
				code, coding := codeLabel(codeOf(o.status)), codings[codingOf([]byte(o.coding))]
				mu.Lock()
				requests["code="+code+" endpoint="+names[o.endpoint]+" format="+formats[o.format]+" "]++
				durations["code="+classes[classOf(o.status)]+" coding="+coding+" endpoint="+names[o.endpoint]+" "]++
				bytes["coding="+coding+" "] += 10
				mu.Unlock()
			}
		})
	}
	counting.Wait()
	close(stop)
	collecting.Wait()
	all := gather(t, registry)
	testkit.Equal(t, all["hdqs_http_in_flight"][0].GetGauge().GetValue(), 0, "requests in flight at the end")
	for _, m := range all["hdqs_http_requests_total"] {
		testkit.Equal(t, m.GetCounter().GetValue(), requests[labelsOf(m)], "requests %s", labelsOf(m))
	}
	for _, m := range all["hdqs_http_request_duration_seconds"] {
		testkit.Equal(t, m.GetHistogram().GetSampleCount(), durations[labelsOf(m)], "durations %s", labelsOf(m))
	}
	for _, m := range all["hdqs_http_response_bytes_total"] {
		testkit.Equal(t, m.GetCounter().GetValue(), bytes[labelsOf(m)], "bytes %s", labelsOf(m))
	}
	if len(all["hdqs_http_requests_total"]) != len(requests) ||
		len(all["hdqs_http_request_duration_seconds"]) != len(durations) {
		t.Errorf("%d and %d series, want %d and %d", len(all["hdqs_http_requests_total"]),
			len(all["hdqs_http_request_duration_seconds"]), len(requests), len(durations))
	}
}
