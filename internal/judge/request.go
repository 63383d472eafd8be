package judge

import (
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/unicode"
)

// request is one HTTP request. Path is everything after the host, as sent.
type request struct {
	Method  string
	Path    string
	Headers map[string]string
}

const identifierHeader = "X-CATALOG-API-APP-IDENTIFIER"

// goodOne is the identifier that is sent. Which others are good, and what is answered without one,
// are cases of api/testdata/http and of api/contract.
var goodOne = base64.StdEncoding.EncodeToString([]byte("judge-app:judge@example.org"))

// query holds the decoded parameters in the order of the query string.
type query []pair

type pair struct{ name, value string }

// last returns the value that counts: the last one if a parameter is repeated.
func (q query) last(name string) (string, bool) {
	for i := len(q) - 1; i >= 0; i-- {
		if q[i].name == name {
			return q[i].value, true
		}
	}
	return "", false
}

func readQuery(text string) query {
	var q query
	for _, part := range strings.Split(text, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		q = append(q, pair{decodePart(name), decodePart(value)})
	}
	return q
}

var escapeForm = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// decodePart undoes the form encoding. A percent sign that starts no escape is kept, and bytes that
// are not UTF-8 become U+FFFD, as in the incumbent's decoder.
func decodePart(text string) string {
	raw := escapeForm.ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(escape string) string {
		code, _ := strconv.ParseUint(escape[1:], 16, 8)
		return string([]byte{byte(code)})
	})
	repaired, _ := unicode.UTF8.NewDecoder().String(raw) // it has no errors
	return repaired
}

func (r request) header(name string) string {
	for k, v := range r.Headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}
