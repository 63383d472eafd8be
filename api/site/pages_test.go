package site

import (
	"testing"

	"hdqs/api/lang"
)

// TestParsePages: the templates can be parsed in every language.
func TestParsePages(t *testing.T) {
	t.Parallel()
	for _, l := range lang.All() {
		parsePages(l)
	}
}
