package figures

import (
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hdqs/api/contract"
	"hdqs/api/list"
	"hdqs/api/state"
	"hdqs/internal/testkit"
	"hdqs/snapshot/store"
)

// TestEarlier: the value before the present one, with the publication that changed it.
func TestEarlier(t *testing.T) {
	t.Parallel()
	packed := `{"format":1,"snapshot":"now","earlier":[{"snapshot":"b","published":"2026-03-02T00:00:00Z"},` +
		`{"snapshot":"a","published":"2026-03-01T00:00:00Z"}]}` + "\n"
	h := contract.AllHeadlines()[0]
	packed += `{"figure":"` + h.Name + `"}` + "\n"
	for code, was := range map[string]string{
		"SDN": `[{"a":1,"v":"25"},{"a":2,"v":"24"}]`, "TCD": `[{"v":"3"},{"a":2,"v":"2"}]`,
		"AFG": `[{"a":1,"v":"25","d":true},{"a":2,"v":"24"}]`, "HTI": `[{"a":1,"v":"25"}]`,
		"MLI": `[{"a":1,"v":"25"},{"a":2}]`, "NER": `[{"a":9,"v":"25"},{"a":2,"v":"24"}]`,
	} {
		packed += code + " " + h.Name + ` {"v":"25","n":1,"w":` + was + "}\n"
	}
	packer, err := zstd.NewWriter(nil)
	testkit.Must(t, err)
	s := list.New(state.New(state.Options{}), nil)
	at := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	v := s.State.NewServed(&state.Bound{
		Snap:    &store.Snapshot{Manifest: &store.Manifest{ID: "now"}},
		Figures: state.KeptFigures{Data: packer.EncodeAll([]byte(packed), nil)},
	}, at)
	for code, want := range map[string]string{
		"SDN": "24 2026-03-02", "TCD": "2 2026-03-03", "AFG": "", "HTI": "", "MLI": "", "NER": "", "XXX": "",
	} {
		got := ""
		if value, of, ok := EarlierOf(s, v, h, code); ok {
			got = value + " " + of.Published.Format(time.DateOnly)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
