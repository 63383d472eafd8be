package judge

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// answer is the answer that the contract requires. Check selects how its body is compared with the
// server's.
type answer struct {
	Status      int    `json:"status"`
	ContentType string `json:"content_type,omitempty"`
	Total       *int   `json:"total,omitempty"`
	Allow       string `json:"allow,omitempty"`
	Location    string `json:"location,omitempty"`
	File        string `json:"file,omitempty"` // start of a CSV's file name
	Check       string `json:"check"`
	Body        string `json:"body"`
}

const (
	checkExact   = "exact"   // the same bytes
	checkHint    = "hint"    // the same error, and a hint whose text is the server's own
	checkReasons = "reasons" // the same except the reason why a date is bad
	checkSome    = "some"    // any body that is not empty
)

const (
	jsonType = "application/json"
	csvType  = "text/csv; charset=utf-8"
	htmlType = "text/html"
	methods  = "GET, HEAD, OPTIONS"
)

func jsonAnswer(status int, body string) answer {
	return answer{Status: status, ContentType: jsonType, Check: checkExact, Body: body}
}

// answer applies the checks in the contract's order.
func (w *world) answer(r request) answer {
	path, text, hasQuery := strings.Cut(r.Path, "?")
	q := readQuery(text)
	a := w.answerRoute(r, path, q, text, hasQuery)
	if r.Method == "HEAD" {
		a.Body, a.Check = "", checkExact
	}
	return a
}

func (w *world) answerRoute(r request, path string, q query, text string, hasQuery bool) answer {
	e, other := w.contract.byPath[path], w.contract.otherFor[path]
	known := e != nil || other != nil
	if r.Method == "OPTIONS" && known {
		return answer{Status: 204, Allow: methods, Check: checkExact}
	}
	if fault := identifierFault(r, path, q); fault != "" {
		a := jsonAnswer(403, `{"error":`+quoted(fault)+`}`)
		a.Check = checkHint
		return a
	}
	if trimmed := strings.TrimSuffix(path, "/"); !known && trimmed != path && w.isRoute(trimmed) {
		if hasQuery {
			trimmed += "?" + text
		}
		return answer{Status: 307, Location: trimmed, Check: checkExact}
	}
	switch {
	case !known:
		return jsonAnswer(404, `{"detail":"Not Found"}`)
	case r.Method != "GET" && r.Method != "HEAD":
		a := jsonAnswer(405, `{"detail":"Method Not Allowed"}`)
		a.Allow = methods
		return a
	case e != nil:
		return w.answerList(e, q)
	}
	return w.answerOther(other, q)
}

func (w *world) isRoute(path string) bool {
	return w.contract.byPath[path] != nil || w.contract.otherFor[path] != nil
}

func (w *world) answerList(e *endpoint, q query) answer {
	if name := badDate(e, q); name != "" {
		return jsonAnswer(400, `{"detail":"Invalid `+name+
			` format. Use YYYY, YYYY-MM, YYYY-MM-DD, or YYYY-MM-DDTHH:MM:SS"}`)
	}
	rd := &reader{contract: w.contract, q: q}
	for _, p := range inOrder(w.contract, e) {
		rd.read(p)
	}
	if len(rd.issues) > 0 {
		return rd.unprocessable()
	}
	var matches []row
rows:
	for _, r := range w.rows[e.Path] {
		for _, keeps := range rd.filters {
			if !keeps(r) {
				continue rows
			}
		}
		matches = append(matches, r)
	}
	total := len(matches)
	if format, _ := q.last("output_format"); format == "csv" {
		return answer{
			Status: 200, ContentType: csvType, Total: &total, File: lastPart(e.Path), Check: checkExact,
			Body: csvBody(e, rd.page(matches)),
		}
	}
	a := jsonAnswer(200, jsonBody(e, rd.page(matches)))
	a.Total = &total
	return a
}

func (rd *reader) unprocessable() answer {
	items := make([]string, len(rd.issues))
	check := checkExact
	for i, item := range rd.issues {
		items[i] = item.json()
		if item.loose {
			check = checkReasons
		}
	}
	a := jsonAnswer(422, `{"detail":[`+strings.Join(items, ",")+`]}`)
	a.Check = check
	return a
}

func (w *world) answerOther(o *otherRoute, q query) answer {
	switch lastPart(o.Path) {
	case "encode_app_identifier":
		rd := &reader{contract: w.contract, q: q}
		for _, p := range o.Params {
			rd.read(p)
		}
		if len(rd.issues) > 0 {
			return rd.unprocessable()
		}
		application, _ := q.last("application")
		email, _ := q.last("email")
		normal, _ := parseEmail(email)
		encoded := base64.StdEncoding.EncodeToString([]byte(application + ":" + normal))
		return jsonAnswer(200, `{"encoded_app_identifier":`+quoted(encoded)+`}`)
	case "version":
		return jsonAnswer(200, fmt.Sprintf(`{"api_version":%s,"hapi_sqlalchemy_schema_version":"0.9.17"}`,
			quoted(w.contract.Version)))
	case "openapi.json":
		return answer{Status: 200, ContentType: jsonType, Check: checkSome}
	case "favicon.ico":
		return answer{Status: 200, Check: checkSome}
	}
	return answer{Status: 200, ContentType: htmlType, Check: checkSome}
}
