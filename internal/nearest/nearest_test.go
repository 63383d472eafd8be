package nearest

import (
	"slices"
	"strings"
	"testing"

	"hdqs/internal/testkit"
)

func TestOf(t *testing.T) {
	t.Parallel()
	names := []string{"resources", "packages", "format", "sha256"}
	for text, want := range map[string]string{
		"resorces": "resources", "resource": "resources", "package": "packages", "sha-256": "sha256", "formt": "format",
		"resources": "resources", "": "", "x": "", "completely different": "", strings.Repeat("resources", 20): "",
	} {
		testkit.Equal(t, Of(text, names), want, "%q", text)
	}
	if got := append(All("package", names, 0), All("packag", names, 2)...); !slices.Equal(got, []string{"packages"}) {
		t.Errorf("within a distance: got %q", got)
	}
	if got := append(All("foramt", names, 1), All("pacakegs", names, 2)...); strings.Join(got, "") != "formatpackages" {
		t.Errorf("swapped letters: got %q", got)
	}
	testkit.EqualLists(t, All("ab", []string{"ax", "abc", "b", "cd"}, 1), []string{"ax", "abc", "b"}, "names as near")
	testkit.Equal(t, Of("ab", []string{"ax", "ay"}), "ax", "two names as near")
}
