package api

import (
	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
)

// Purge keys are labels of answers by which an edge drops what is no longer true:
//
//	all          every answer
//	page         what is not a list; landing is the landing page, which tells of the snapshot
//	ep-NAME      every list of an endpoint that the next snapshot may change
//	tv-VERSION   every list of an endpoint at one content of its table
//	snap-ID      every answer from a snapshot
//	loc-CODE     lists of exactly one location that the next snapshot may change
//
// Table versions do not change with the snapshot, so what is purged after a publish is the
// endpoints whose tables differ (PurgeKeys), and all else stays warm. Answers to requests that name
// their snapshot stay true whatever is published, so they have neither ep-NAME nor loc-CODE; all,
// tv-VERSION and snap-ID are left, for data that must be withdrawn.
const (
	AllKey     = "all"
	pageKey    = "page"
	landingKey = "landing"
)

// versionDigits is how much of a table's hash stands in a key.
const versionDigits = 12

// PurgeKeys are the keys of the answers that differ once other tables are served.
func PurgeKeys(tables []string) []string {
	keys := []string{landingKey}
	for _, e := range EndpointsOf(tables) {
		keys = append(keys, "ep-"+e.Name())
	}
	return keys
}

// EndpointsOf are the endpoints that read one of the tables.
func EndpointsOf(tables []string) []*contract.Endpoint {
	var all []*contract.Endpoint
	for i := range contract.Endpoints {
		for _, table := range tables {
			if contract.Endpoints[i].Table == table {
				all = append(all, &contract.Endpoints[i])
				break
			}
		}
	}
	return all
}

// setListKeys writes the keys of a list.
func (s *Server) setListKeys(h *fasthttp.ResponseHeader, a *reply) {
	pinned := a.request.Snapshot != ""
	keys := append(a.text[:0], AllKey...)
	if !pinned {
		keys = append(append(keys, " ep-"...), a.endpoint.Name()...)
	}
	keys = append(append(keys, " tv-"...), a.list.version[:min(versionDigits, len(a.list.version))]...)
	keys = append(append(keys, " snap-"...), a.served.id...)
	if code := a.request.Location(); code != "" && !pinned {
		keys = append(append(keys, " loc-"...), code...)
	}
	a.text = keys
	s.sendKeys(h, keys)
}

func (s *Server) setPageKeys(h *fasthttp.ResponseHeader, key string) {
	if s.options.SurrogateKey || s.options.CacheTag {
		s.sendKeys(h, []byte(AllKey+" "+key+" snap-"+s.currentID()))
	}
}

// sendKeys turns the blanks between keys into the commas of Cache-Tag after they have served
// Surrogate-Key.
func (s *Server) sendKeys(h *fasthttp.ResponseHeader, keys []byte) {
	if s.options.SurrogateKey {
		h.SetCanonical(nameSurrogate, keys)
	}
	if s.options.CacheTag {
		for i, c := range keys {
			if c == ' ' {
				keys[i] = ','
			}
		}
		h.SetCanonical(nameCacheTag, keys)
	}
}
