package api

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// Header names and values that every answer of a kind has.
const (
	jsonType = "application/json"
	csvType  = "text/csv; charset=utf-8"
	htmlType = "text/html; charset=utf-8"

	headerTotal      = "X-Total-Count"
	allowedMethods   = "GET, HEAD, OPTIONS"
	exposedHeaders   = "Content-Disposition, Retry-After, X-Total-Count"
	preflightHeaders = "X-CATALOG-API-APP-IDENTIFIER, If-None-Match, If-Modified-Since"
	preflightSeconds = "86400"

	dataPolicy = "default-src 'none'"
)

// setShared sets what every answer carries. Answers to browsers of other origins may be read by all: nothing here depends on who asks.
func setShared(h *fasthttp.ResponseHeader) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", dataPolicy)
}

// fileName is the name under which a CSV answer is saved: endpoint, the codes it was asked for, the snapshot's date. Only letters, digits,
// '.' and '-' of a code get into it, so no value can break out of the header.
func fileName(p *plan, r *request, date string) string {
	var b strings.Builder
	b.WriteString(p.endpoint.Name())
	for place, param := range p.params {
		if param.Type != String || !isCodeName(param.Name) || !r.raw[place].given {
			continue
		}
		if code := r.text(place); isCode(code) {
			b.WriteByte('_')
			b.WriteString(code)
		}
	}
	b.WriteByte('_')
	b.WriteString(date)
	b.WriteString(".csv")
	return b.String()
}

func isCodeName(param string) bool { return param == "code" || strings.HasSuffix(param, "_code") }

// longestCode is the longest code that is worth a place in a file name.
const longestCode = 32

// isCode tells codes without wildcards, which stand in file names.
func isCode(value string) bool {
	if value == "" || len(value) > longestCode {
		return false
	}
	for i := range len(value) {
		c := value[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '.' && c != '-' {
			return false
		}
	}
	return true
}
