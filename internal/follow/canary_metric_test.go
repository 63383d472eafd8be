package follow

import (
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"

	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestCanaryMetric: hdqs_canary is 1 while a replica serves the snapshot of a canary, and only
// then.
func TestCanaryMetric(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	st, ids := newStore(t, day, day.AddDate(0, 0, 1))
	testkit.Must(t, st.Channels.Publish(channel, ids[0], day))
	const share = 40
	in, out := newMember(t, st, named(share, true)), newMember(t, st, named(share, false))
	check := func(when, served string, first, second float64) {
		t.Helper()
		in.mustServe(t, when, served)
		out.mustServe(t, when, ids[0])
		for i, want := range []float64{first, second} {
			var m dto.Metric
			testkit.Must(t, []*member{in, out}[i].metrics.canary.Write(&m))
			if got := m.GetGauge().GetValue(); got != want {
				t.Errorf("%s: hdqs_canary of replica %d is %g, want %g", when, i, got, want)
			}
		}
	}
	check("before", ids[0], 0, 0)
	main, err := st.Channels.History(channel)
	testkit.Must(t, err)
	name := store.CanaryOf(channel)
	testkit.Must(t, st.Channels.Move(name, ids[1], store.StartCanary(main, share, day)))
	check("canary", ids[1], 1, 0)
	testkit.Must(t, st.Channels.Move(name, ids[0], store.EndCanary(day)))
	check("ended", ids[0], 0, 0)
}
