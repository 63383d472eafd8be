package judge

import (
	"fmt"
	"strings"
)

// link fills a link template with the row's values.
func (w *world) link(form string, r row) string {
	var b strings.Builder
	for form != "" {
		before, rest, found := strings.Cut(form, "{")
		b.WriteString(before)
		if !found {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		if name == "catalog_url" {
			b.WriteString(w.catalogURL)
		} else {
			b.WriteString(r.stored[name].(string))
		}
		form = after
	}
	return normalURI(b.String())
}

// normalURI prints a URI as section 6 of the contract says: scheme and host in lower case, no
// default port, a path of at least "/", and percent-encoded characters where path and query allow
// them no other way. Existing escapes are kept.
func normalURI(uri string) string {
	scheme, rest, found := strings.Cut(strings.TrimSpace(uri), "://")
	if !found {
		return uri
	}
	scheme = strings.ToLower(scheme)
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	host, tail := rest[:end], rest[end:]
	user := ""
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		user, host = host[:at+1], host[at+1:]
	}
	host = strings.ToLower(host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	tail, fragment, hasFragment := strings.Cut(tail, "#")
	path, query, hasQuery := strings.Cut(tail, "?")
	if path == "" {
		path = "/"
	}
	out := scheme + "://" + user + host + escapeFor(path, " \"<>`{}")
	if hasQuery {
		out += "?" + escapeFor(query, " \"<>'")
	}
	if hasFragment {
		out += "#" + escapeFor(fragment, " \"<>`")
	}
	return out
}

func escapeFor(part, forbidden string) string {
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		c := part[i]
		if c < 0x20 || c >= 0x7f || strings.IndexByte(forbidden, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
