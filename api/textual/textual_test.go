package textual

import "testing"

// TestRecords: null and the empty text are told apart, and a field that is not there has none.
func TestRecords(t *testing.T) {
	t.Parallel()
	texts := [][]string{{"x", ""}, {`ü\ "y"`, "null"}}
	got := New(2, []string{"a", "b"}, func(dst []byte, record, field int) ([]byte, bool) {
		return append(dst, texts[record][field]...), record != 0 || field != 1
	})
	for i, want := range []string{"x", `ü\ "y"`} {
		if text, ok := got[i].Text("a"); !ok || text != want {
			t.Errorf("record %d has %q, %v", i, text, ok)
		}
	}
	if text, ok := got[0].Text("b"); ok {
		t.Errorf("null has the text %q", text)
	}
	if text, ok := got[1].Text("b"); !ok || text != "null" {
		t.Errorf("a text is %q, %v", text, ok)
	}
	if _, ok := got[0].Text("c"); ok || got[0].Has("c") || !got[0].Has("b") {
		t.Error("a field that is not there is there, or one is not")
	}
}
