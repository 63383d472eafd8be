package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

func (w *world) link(form string, r row) string {
	return normalURI(placeholder.ReplaceAllStringFunc(form, func(name string) string {
		if name == "{catalog_url}" {
			return w.catalogURL
		}
		return r.stored[strings.Trim(name, "{}")].(string)
	}))
}

// uriForm has the parts of a URI: scheme, user, host with port, path, query and fragment.
var uriForm = regexp.MustCompile(`(?s)^(.*?)://([^/?#]*@)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$`)

// normalURI prints a URI as section 6 of the contract says: scheme and host in lower case, no
// default port, a path of at least "/", and percent-encoded characters where path and query allow
// them no other way. Existing escapes are kept.
func normalURI(uri string) string {
	part := uriForm.FindStringSubmatch(strings.TrimSpace(uri))
	if part == nil {
		return uri
	}
	scheme, host := strings.ToLower(part[1]), strings.ToLower(part[3])
	if port := map[string]string{"http": ":80", "https": ":443"}[scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return scheme + "://" + part[2] + host + escapeFor(cmp.Or(part[4], "/"), " \"<>`{}") +
		escapeFor(part[5], " \"<>'") + escapeFor(part[6], " \"<>`")
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
