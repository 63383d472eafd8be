package api

import (
	"bytes"
	"slices"

	"github.com/valyala/fasthttp"
)

// Bounds of what is told of unknown parameters.
const (
	maxUnknown     = 16 // names
	maxUnknownName = 40 // bytes of one
)

// unknownNames lists parameters that the endpoint does not have, sorted, each once, in characters that are safe in a header. A caller who put
// an identifier where a name belongs does not get it back, as it would travel on in caches.
func (r *request) unknownNames() []string {
	var names []string
	for _, encoded := range r.unknown {
		name := appendDecoded(nil, encoded)
		safe := "(withheld)"
		if len(name) == 0 {
			safe = "(empty)"
		} else if bytes.IndexByte(name, '@') < 0 && checkIdentifier(name) != nil {
			safe = headerName(name)
		}
		names = append(names, safe)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxUnknown {
		names = append(names[:maxUnknown], "...")
	}
	return names
}

func headerName(name []byte) string {
	if len(name) > maxUnknownName {
		name = append(name[:maxUnknownName:maxUnknownName], "..."...)
	}
	for i, c := range name {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '.' && c != '-' && c != '_' {
			name[i] = '_'
		}
	}
	return string(name)
}

// tellUnknown writes X-Unknown-Params. Unknown parameters change nothing, so whoever misspells a filter gets more rows than wanted; this is
// where it shows.
func (r *request) tellUnknown(h *fasthttp.ResponseHeader) {
	if len(r.unknown) == 0 {
		return
	}
	var list []byte
	for i, name := range r.unknownNames() {
		if i > 0 {
			list = append(list, ", "...)
		}
		list = append(list, name...)
	}
	h.SetCanonical(nameUnknown, list)
}

// wantsStrict says whether the client asks for unknown parameters to be faults. It is a wish: a shared cache may answer with a list that it has,
// and X-Unknown-Params on it. Varying by the field would give each cache two of everything.
func wantsStrict(request *fasthttp.RequestHeader) bool {
	for _, line := range request.PeekAll("Prefer") {
		for wish := range bytes.SplitSeq(line, []byte{','}) {
			wish, _, _ = bytes.Cut(wish, []byte{';'})
			name, value, _ := bytes.Cut(wish, []byte{'='})
			if bytes.EqualFold(bytes.TrimSpace(name), []byte("handling")) && bytes.EqualFold(bytes.Trim(value, " \t\""), []byte("strict")) {
				return true
			}
		}
	}
	return false
}

// unknownFaults are the issues of a strict request. Their input is null: the value of a misspelled parameter may be an identifier.
func (r *request) unknownFaults() *Invalid {
	var all Invalid
	for _, name := range r.unknownNames() {
		all.Issues = append(all.Issues, Issue{Type: "extra_forbidden", Param: name, Text: "Extra inputs are not permitted", Miss: true})
	}
	return &all
}
