package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const identifierHeader = "X-CATALOG-API-APP-IDENTIFIER"

// exempt reports whether a path below /api needs no identifier: two do not.
func exempt(path string) bool {
	return path == pathPrefix+"encode_app_identifier" || path == pathPrefix+"util/version"
}

// identifierFault is the first check of a request: it returns "" or the error of the 403.
func identifierFault(r request, path string, q query) string {
	if !strings.HasPrefix(path, "/api") || exempt(path) {
		return ""
	}
	value, _ := q.last("app_identifier")
	if value == "" {
		value = r.header(identifierHeader)
	}
	switch {
	case value == "":
		return "Missing app identifier"
	case goodIdentifier(value):
		return ""
	}
	return "Invalid app identifier"
}

// goodIdentifier decodes as the incumbent does first, then more leniently.
func goodIdentifier(value string) bool {
	for _, r := range value {
		if r > 0x7f {
			return false
		}
	}
	if text, ok := decodeBase64(value); ok && strings.Count(text, ":") == 1 && goodPair(text) {
		return true
	}
	lenient := strings.NewReplacer("-", "+", "_", "/", " ", "+").Replace(value)
	lenient = strings.TrimRight(lenient, "=")
	lenient += strings.Repeat("=", (4-len(lenient)%4)%4)
	text, ok := decodeBase64(lenient)
	return ok && goodPair(text)
}

func goodPair(text string) bool {
	colon := strings.LastIndexByte(text, ':')
	if !utf8.ValidString(text) || colon < 0 {
		return false
	}
	application := utf8.RuneCountInString(text[:colon])
	if application < 4 || application > 512 {
		return false
	}
	_, reason := parseEmail(text[colon+1:])
	return reason == ""
}

// decodeBase64 decodes as the incumbent's library does: characters outside the alphabet are
// skipped, decoding ends where padding completes a group, and an incomplete group at the end is an
// error.
func decodeBase64(value string) (string, bool) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var out []byte
	bits, group, pads := 0, 0, 0
	for _, c := range []byte(value) {
		if c == '=' {
			if group >= 2 {
				if pads++; group+pads >= 4 {
					return string(out), true
				}
			}
			continue
		}
		v := strings.IndexByte(alphabet, c)
		if v < 0 {
			continue
		}
		pads = 0
		bits = bits<<6 | v
		if group > 0 {
			out = append(out, byte(bits>>(6-2*group)))
			bits &= 1<<(6-2*group) - 1
		}
		group = (group + 1) % 4
	}
	return string(out), group == 0
}

const (
	mailNoAt      = "An email address must have an @-sign."
	mailNoLocal   = "There must be something before the @-sign."
	mailNoPeriod  = "The part after the @-sign is not valid. It should have a period."
	mailTwoPoints = "An email address cannot have two periods in a row."
	mailOther     = "The email address is not valid."
)

// parseEmail returns the normal form of an address, or the reason why it is invalid.
func parseEmail(text string) (normal, reason string) {
	if utf8.RuneCountInString(text) > 512 {
		return "", mailOther
	}
	if inner, ok := bracketed(text); ok {
		text = inner
	}
	text = strings.TrimFunc(text, unicode.IsSpace)
	local, domain, found := strings.Cut(text, "@")
	switch {
	case !found:
		return "", mailNoAt
	case local == "":
		return "", mailNoLocal
	case strings.Contains(domain, "@"):
		return "", mailOther
	case strings.Contains(local, "..") || strings.Contains(domain, ".."):
		return "", mailTwoPoints
	case !goodLocal(local):
		return "", mailOther
	case domain != "" && !strings.Contains(domain, ".") && domain[0] != '[':
		if strings.Trim(domain, "-") != domain || !goodLabel(domain) {
			return "", mailOther
		}
		return "", mailNoPeriod
	case !goodDomain(domain) || utf8.RuneCountInString(text) > 254:
		return "", mailOther
	}
	return local + "@" + strings.ToLower(domain), ""
}

// bracketed extracts the address from `Some Name <a@b.co>`.
func bracketed(text string) (string, bool) {
	trimmed := strings.TrimFunc(text, unicode.IsSpace)
	name, rest, found := strings.Cut(trimmed, "<")
	if !found || !strings.HasSuffix(rest, ">") || strings.Contains(name, "@") {
		return "", false
	}
	return rest[:len(rest)-1], true
}

func goodLocal(local string) bool {
	if utf8.RuneCountInString(local) > 64 || local[0] == '.' || local[len(local)-1] == '.' {
		return false
	}
	for _, r := range local {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r) {
			return false
		}
	}
	return true
}

func goodLabel(label string) bool {
	if label == "" || utf8.RuneCountInString(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, r := range label {
		if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return true
}

func goodDomain(domain string) bool {
	labels := strings.Split(domain, ".")
	if len(labels) < 2 || utf8.RuneCountInString(domain) > 253 {
		return false
	}
	for _, label := range labels {
		if !goodLabel(label) {
			return false
		}
	}
	last := labels[len(labels)-1]
	ending, _ := utf8.DecodeLastRuneInString(last)
	if !unicode.IsLetter(ending) {
		return false
	}
	for _, reserved := range []string{"arpa", "invalid", "local", "localhost", "onion", "test"} {
		if strings.EqualFold(last, reserved) {
			return false
		}
	}
	return true
}
