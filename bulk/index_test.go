package bulk

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestIndexForReadersOfSTAC: each link that readers of STAC follow is to a STAC document of the
// snapshot. The manifests, which are none, have another relation.
func TestIndexForReadersOfSTAC(t *testing.T) {
	t.Parallel()
	without, with := small(), described()
	without.Snapshot, without.Created = "s1", with.Created.AddDate(0, 0, -1)
	x := NewIndex([]*Manifest{without, with})
	followed := []string{}
	for _, l := range x.Links {
		if l.Rel == "self" || l.Rel == "root" || l.Rel == "manifest" {
			continue
		}
		followed = append(followed, l.Rel+" "+l.Href)
		var document struct{ Type string }
		text := documents(t, with, "")[path.Base(l.Href)]
		if err := json.Unmarshal([]byte(text), &document); err != nil || document.Type != "Collection" {
			t.Errorf("%s is no collection: %v", l.Href, err)
		}
	}
	if want := []string{"child " + with.Snapshot + "/collection.json"}; !slices.Equal(followed, want) {
		t.Errorf("links %q, want %q", followed, want)
	}
	if l := x.Links[2]; l.Rel != "manifest" || l.Snapshot != with.Snapshot ||
		l.Href != with.Snapshot+"/manifest.json" || len(x.Links) != 5 {
		t.Errorf("%d links, the third %+v", len(x.Links), l)
	}
}

// TestAssetsAreFiles: every asset of an item is a file of the manifest.
func TestAssetsAreFiles(t *testing.T) {
	t.Parallel()
	m := described()
	files := map[string]bool{}
	for f := range m.All {
		files[f.Path] = true
	}
	assets := 0
	for name, text := range documents(t, m, "") {
		var item struct {
			Type   string
			Assets map[string]struct{ Href string }
		}
		if json.Unmarshal([]byte(text), &item) != nil || item.Type != "Feature" {
			continue
		}
		for key, asset := range item.Assets {
			assets++
			if at := path.Join(path.Dir(name), asset.Href); !files[at] || (key == "data") == strings.Contains(at, "=") {
				t.Errorf("%s: asset %s is at %s, which is no file", name, key, at)
			}
		}
	}
	if assets != 3 {
		t.Errorf("%d assets, want 3", assets)
	}
}
