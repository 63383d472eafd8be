package reply

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// StrictHandling is the preference that makes unknown parameters errors.
const StrictHandling = "handling=strict"

// PrefersStrict reports whether the client has that preference. The first one about handling
// counts. A shared cache may answer such a request with a cached list that has X-Unknown-Params:
// varying by Prefer would store every answer twice.
func PrefersStrict(request *fasthttp.RequestHeader) bool {
	for _, line := range request.PeekAll("Prefer") {
		for preference := range bytes.SplitSeq(line, []byte{','}) {
			preference, _, _ = bytes.Cut(preference, []byte{';'})
			name, value, _ := bytes.Cut(preference, []byte{'='})
			if bytes.EqualFold(bytes.TrimSpace(name), []byte("handling")) {
				return bytes.EqualFold(bytes.Trim(value, " \t\""), []byte("strict"))
			}
		}
	}
	return false
}
