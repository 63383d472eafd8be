package api

import (
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/index"
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
// Table versions do not change with the snapshot, so what is purged after a publish is the endpoints whose tables differ (PurgeKeys), and all
// else stays warm. Answers to requests that name their snapshot stay true whatever is published, so they have neither ep-NAME nor loc-CODE; all, tv-VERSION
// and snap-ID are left, for data that must be withdrawn.
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
func EndpointsOf(tables []string) []*Endpoint {
	var all []*Endpoint
	for i := range endpoints {
		for _, table := range tables {
			if endpoints[i].Table == table {
				all = append(all, &endpoints[i])
				break
			}
		}
	}
	return all
}

// tellKeys writes the keys of a list.
func (s *Server) tellKeys(h *fasthttp.ResponseHeader, sc *scratch, p *plan, list *boundList, v *served) {
	pinned := sc.request.pin != ""
	keys := append(sc.text[:0], AllKey...)
	if !pinned {
		keys = append(append(keys, " ep-"...), p.endpoint.Name()...)
	}
	keys = append(append(keys, " tv-"...), list.version[:min(versionDigits, len(list.version))]...)
	keys = append(append(keys, " snap-"...), v.id...)
	if code := sc.request.location(p); code != "" && !pinned {
		keys = append(append(keys, " loc-"...), code...)
	}
	sc.text = keys
	s.sendKeys(h, keys)
}

func (s *Server) tellPageKeys(h *fasthttp.ResponseHeader, key string) {
	if s.options.SurrogateKey || s.options.CacheTag {
		s.sendKeys(h, []byte(AllKey+" "+key+" snap-"+s.currentID()))
	}
}

// sendKeys turns the blanks between keys into the commas of Cache-Tag after they have served Surrogate-Key.
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

// location is the code of the one location that a request asks for, in capitals, empty when it asks for more.
func (r *request) location(p *plan) string {
	for place, param := range p.params {
		isLocation := param.Name == "location_code" || param.Name == "code" && p.endpoint.Table == "location"
		if !isLocation || param.Op != index.Like {
			continue
		}
		if filter := r.raw[place].filter; filter > 0 {
			if code := r.query.Filters[filter-1].Value.Text; isCode(code) {
				return strings.ToUpper(code)
			}
		}
	}
	return ""
}
