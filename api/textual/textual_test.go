package textual

import "testing"

// TestRecords: texts are as they were before the renderer quoted them, other values as they are
// written, and what is no JSON is an error.
func TestRecords(t *testing.T) {
	t.Parallel()
	records := func(cell string) ([]Record, error) {
		return New(1, []string{"a"}, func(dst []byte, _, _ int) []byte { return append(dst, cell...) })
	}
	for cell, want := range map[string]string{
		`""`: "", `"x"`: "x", `"null"`: "null", `"\u00fc\\ \"y\""`: `ü\ "y"`, `-1.5e3`: "-1.5e3", `true`: "true",
	} {
		got, err := records(cell)
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := got[0].Text("a"); !ok || text != want {
			t.Errorf("%s is %q, %v", cell, text, ok)
		}
	}
	got, err := records("null")
	if _, ok := got[0].Text("a"); ok || err != nil {
		t.Errorf("null has a text, or %v", err)
	}
	if _, ok := got[0].Text("b"); ok {
		t.Error("a field that is not there has a text")
	}
	if _, err := records(`"\x"`); err == nil {
		t.Error("a malformed text has no error")
	}
}
