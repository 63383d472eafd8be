//go:build !race

package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hdqs/loader"
	"hdqs/loader/catalogfile"
)

// blocks are the ways in which the portal has been seen to refuse programs.
var blocks = map[string]func(http.ResponseWriter){
	"bot, 403": func(w http.ResponseWriter) { http.Error(w, "Blocked due to bot activity", http.StatusForbidden) },
	"bot, 429": func(w http.ResponseWriter) {
		http.Error(w, "Blocked due to bot activity", http.StatusTooManyRequests)
	},
	"406": func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotAcceptable) },
	"429 for an hour": func(w http.ResponseWriter) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	},
	"page, 403": func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<!DOCTYPE html><html><title>Forbidden</title></html>")
	},
}

// remedies are what the fault says can be done.
var remedies = []string{
	"the site blocks this address or this program", "--user-agent", "--request-pause", "HTTPS_PROXY", "hdqs mirror",
}

func namesBlock(text string) bool {
	for _, remedy := range remedies {
		if !strings.Contains(text, remedy) {
			return false
		}
	}
	return true
}

// TestBlocked: a portal that refuses every request, or those for single datasets in the middle of
// the list, leaves all files as they were, says what to do, and is asked a few times instead of
// once for each file. Without a copy the load fails.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for name, block := range blocks {
		for _, below := range []string{"", "/package_show"} {
			server, o := site(t)
			server.Edit = func(pkg map[string]any) {
				if pkg["name"] == "global-pcodes" { // published by others, so asked for by its name
					pkg["organization"] = map[string]any{"name": "itos"}
				}
			}
			o.Fetch.BackoffMax = time.Minute // a block lasts until the end of the sync
			full := mustSync(t, o)
			asked := 0
			server.Lock()
			server.Fault = func(w http.ResponseWriter, r *http.Request) bool {
				isBlocked := strings.HasSuffix(r.URL.Path, below)
				if isBlocked {
					asked++
					block(w)
				}
				return isBlocked
			}
			server.Unlock()
			s := mustSync(t, o)
			sameTree(t, s.Dir)
			if len(s.Files) != len(full.Files) || len(s.Notes) == 0 || !namesBlock(s.Notes[0]) {
				t.Errorf("%s: %d of %d files, notes %q", name, len(s.Files), len(full.Files), s.Notes)
			}
			for _, f := range s.Files { // a search may find packages while single datasets are refused
				isFound := below != "" && f.Role == catalogfile.PackageRole && f.State != loader.SourceRefused
				if f.State != loader.SourceStale && !isFound {
					t.Errorf("%s: %s is %v: %s", name, f.Path, f.State, f.Why)
				}
			}
			server.Lock()
			if asked > 2*o.Fetch.Tries || !namesBlock(s.Trouble()) {
				t.Errorf("%s: %d requests to a site that refuses them; the trouble is %q", name, asked, s.Trouble())
			}
			server.Unlock()
			o.Cache = t.TempDir()
			if _, err := Sync(t.Context(), o); !errors.Is(err, ErrUnreachable) || !namesBlock(err.Error()) {
				t.Errorf("%s, no copy: %v", name, err)
			}
		}
	}
}
