package nearest

import (
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	names := []string{"resources", "packages", "format", "sha256"}
	for text, want := range map[string]string{
		"resorces": "resources", "resource": "resources", "package": "packages", "sha-256": "sha256", "formt": "format",
		"resources": "resources", "": "", "x": "", "completely different": "", strings.Repeat("resources", 20): "",
	} {
		if got := Of(text, names); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	if got := append(All("package", names, 0), All("packag", names, 2)...); !slices.Equal(got, []string{"packages"}) {
		t.Errorf("within a distance: got %q", got)
	}
	if got := append(All("foramt", names, 1), All("pacakegs", names, 2)...); strings.Join(got, "") != "formatpackages" {
		t.Errorf("swapped letters: got %q", got)
	}
	if got := All("ab", []string{"ax", "abc", "b", "cd"}, 1); !slices.Equal(got, []string{"ax", "abc", "b"}) {
		t.Errorf("names as near: got %q", got)
	}
	if got := Of("ab", []string{"ax", "ay"}); got != "ax" {
		t.Errorf("two names as near: got %q, want the first", got)
	}
}
