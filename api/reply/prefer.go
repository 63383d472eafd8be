package reply

import (
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

// StrictHandling is the preference that makes unknown parameters errors.
const StrictHandling = "handling=strict"

// PrefersStrict reports whether the client has that preference. A shared cache may answer such a
// request with a cached list that has X-Unknown-Params: varying by Prefer would store every answer
// twice.
func PrefersStrict(request *fasthttp.RequestHeader) bool {
	return strings.EqualFold(Preference(request, "handling"), "strict")
}

// Preference is the value of the client's first preference with one of some names, empty without.
func Preference(request *fasthttp.RequestHeader, names ...string) string {
	for _, line := range request.PeekAll("Prefer") {
		for preference := range strings.SplitSeq(string(line), ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if slices.Contains(names, strings.ToLower(strings.TrimSpace(name))) {
				return strings.Trim(value, " \t\"")
			}
		}
	}
	return ""
}
