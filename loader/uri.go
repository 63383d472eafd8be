package loader

import (
	"fmt"
	"strings"

	"hdqs/loader/catalogfile"
	"hdqs/schema"
)

// badLink is the reason of a row with a link that is no http or https address with a host. Such a
// link would be followed by clients and shown on pages, so the row is not used.
const badLink reason = "bad_link"

// webLink is a link in the form in which it is printed: normalized as browsers do, and as the
// incumbent's library does. Scheme and host are in lower case, the default port is left out, an
// empty path is /, dot segments are resolved, characters that an address cannot have are
// percent-encoded, and what is encoded stays. A text that is no http or https address with a host,
// such as an empty one or a script, is left as it is, and ok is false.
func webLink(uri string) (link string, ok bool) {
	clean := strings.Trim(uri, controlsAndBlank)
	clean = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(clean)
	scheme, rest, _ := strings.Cut(clean, "://")
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return uri, false
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(strings.ReplaceAll(rest, `\`, "/"), "/")
	if host, ok = normalHost(host, scheme); !ok {
		return uri, false
	}
	var b strings.Builder
	b.WriteString(scheme + "://" + host)
	escapeTo(&b, resolveDots("/"+path), " \"<>`{}")
	if hasQuery {
		b.WriteByte('?')
		escapeTo(&b, query, " \"<>'")
	}
	if hasFragment {
		b.WriteByte('#')
		escapeTo(&b, fragment, " \"<>`")
	}
	return b.String(), true
}

const notInHost = controlsAndBlank + "\x7f\"<>\\^`{|}"

const controlsAndBlank = "\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f" +
	"\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

// normalHost lower-cases a host and drops the port that its scheme implies; a user before it is
// kept. ok is false for a text that is not a host.
func normalHost(host, scheme string) (normal string, ok bool) {
	user := ""
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		user, host = host[:at+1], host[at+1:]
	}
	host, port := strings.ToLower(host), ""
	if colon := strings.LastIndexByte(host, ':'); colon > strings.LastIndexByte(host, ']') {
		host, port = host[:colon], strings.TrimLeft(host[colon+1:], "0")
	}
	isIPv6 := strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]")
	if host == "" || strings.ContainsAny(user+host, notInHost) || strings.Trim(port, "0123456789") != "" ||
		strings.Contains(host, ":") && !isIPv6 {
		return "", false
	}
	if port == "" || scheme == "http" && port == "80" || scheme == "https" && port == "443" {
		return user + host, true
	}
	return user + host + ":" + port, true
}

// resolveDots removes . and .. from a path, also in their encoded forms. A path that ends in one
// keeps its last slash.
func resolveDots(path string) string {
	if !strings.Contains(path, "/.") && !strings.Contains(path, "/%2") {
		return path
	}
	var kept []string
	segments := strings.Split(path[1:], "/")
	for i, s := range segments {
		plain := strings.ReplaceAll(strings.ToLower(s), "%2e", ".")
		if plain == ".." && len(kept) > 0 {
			kept = kept[:len(kept)-1]
		}
		if plain != "." && plain != ".." {
			kept = append(kept, s)
		} else if i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/")
}

// escapeTo percent-encodes controls, bytes beyond ASCII and the given ones.
func escapeTo(b *strings.Builder, part, reserved string) {
	for i := range len(part) {
		if c := part[i]; c <= 0x1f || c >= 0x7f || strings.IndexByte(reserved, c) >= 0 {
			fmt.Fprintf(b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
}

// linkForms are the columns of the metadata tables that are made from others: the catalog's site,
// then this form, with values of the row instead of the names in braces.
var linkForms = map[string]map[string]string{
	"dataset": {
		"catalog_link":              "/dataset/{dataset_catalog_id}",
		"catalog_api_link":          "/api/action/package_show?id={dataset_catalog_id}",
		"provider_catalog_link":     "/organization/{catalog_provider_stub}",
		"provider_catalog_api_link": "/api/action/organization_show?id={catalog_provider_stub}",
	},
	"resource": {
		"catalog_link":              "/dataset/{dataset_catalog_id}/resource/{resource_catalog_id}",
		"catalog_api_link":          "/api/action/resource_show?id={resource_catalog_id}",
		"dataset_catalog_link":      "/dataset/{dataset_catalog_id}",
		"dataset_catalog_api_link":  "/api/action/package_show?id={dataset_catalog_id}",
		"provider_catalog_link":     "/organization/{dataset_catalog_provider_stub}",
		"provider_catalog_api_link": "/api/action/organization_show?id={dataset_catalog_provider_stub}",
	},
}

// setLinks sets the links of the current row, whose other columns have been set. The result is what
// is wrong with a link, "" when all are good: the site is checked before, so it is a value of the
// row that is missing.
func setLinks(a *tableBuilder, catalogURL string) (fault string) {
	for _, c := range a.table.columns {
		form, ok := linkForms[a.table.name][c.name]
		if !ok {
			continue
		}
		link := catalogURL
		for open := strings.IndexByte(form, '{'); open >= 0; open = strings.IndexByte(form, '{') {
			shut := strings.IndexByte(form, '}')
			from := form[open+1 : shut]
			part := a.column(from).text(a.rows)
			if part == "" {
				return fmt.Sprintf("no %s for %s", from, c.name)
			}
			link += form[:open] + part
			form = form[shut+1:]
		}
		link, _ = webLink(link + form)
		a.column(c.name).setString(link)
	}
	return ""
}

// checkSite checks the address that links begin with.
func checkSite(url string) error {
	if _, ok := webLink(url); !ok || strings.ContainsAny(url, "?#") {
		return fmt.Errorf("catalog_url %q is no http or https address with a host; "+
			"set it in %s or with --catalog-url", clip(url, 100), catalogfile.Name)
	}
	return nil
}

// licenseLink is a link to a license, empty when it is no link that a page can show.
func licenseLink(uri string) string {
	link, ok := webLink(uri)
	if !ok || len(link) > maxURI {
		return ""
	}
	return link
}

// maxURI is the longest link that a record may hold.
const maxURI = schema.MaxURI
