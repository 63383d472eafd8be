package sample_test

import (
	"slices"
	"testing"

	"hdqs/internal/generator"
	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// TestThemesAreGenerated checks that the generator, which writes the sample and the catalogs of
// other tests, has rows of every theme that the loader reads. The tests of loader leave out themes
// without rows, so that a new theme can be tested before it has them.
func TestThemesAreGenerated(t *testing.T) {
	t.Parallel()
	for _, in := range loader.Inputs() {
		if !catalogfile.IsReference(in.Role) && !slices.Contains(generator.Roles(), in.Role) {
			t.Errorf("the generator has no rows for theme %s: see \"The sample\" in docs/adding-a-list.md", in.Role)
		}
	}
}
