package judge

import (
	"encoding/base64"
	"regexp"
	"slices"
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
	var digits []byte
	pads := 0
	for _, c := range []byte(value) {
		if strings.IndexByte(alphabet, c) >= 0 {
			digits, pads = append(digits, c), 0
		} else if c == '=' && len(digits)%4 >= 2 {
			if pads++; len(digits)%4+pads == 4 {
				text, err := base64.RawStdEncoding.DecodeString(string(digits))
				return string(text), err == nil
			}
		}
	}
	text, err := base64.StdEncoding.DecodeString(string(digits))
	return string(text), err == nil
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
	case !localForm.MatchString(local) || strings.HasSuffix(local, "."):
		return "", mailOther
	case domain != "" && !strings.Contains(domain, ".") && domain[0] != '[':
		if !labelForm.MatchString(domain) {
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

const (
	// label is a part of a domain, of up to 63 letters, digits and hyphens.
	label = `[\p{L}\p{Nd}](?:[\p{L}\p{Nd}-]{0,61}[\p{L}\p{Nd}])?`
	atom  = "[\\p{L}\\p{Nd}!#$%&'*+\\-/=?^_`{|}~]"
)

var (
	localForm  = regexp.MustCompile("^" + atom + "(?:[.]|" + atom + "){0,63}$")
	labelForm  = regexp.MustCompile("^" + label + "$")
	domainForm = regexp.MustCompile(`^(?:` + label + `\.)+(` + label + `)$`)
)

func goodDomain(domain string) bool {
	parts := domainForm.FindStringSubmatch(domain)
	if parts == nil || utf8.RuneCountInString(domain) > 253 {
		return false
	}
	ending, _ := utf8.DecodeLastRuneInString(domain)
	reserved := []string{"arpa", "invalid", "local", "localhost", "onion", "test"}
	return unicode.IsLetter(ending) &&
		!slices.ContainsFunc(reserved, func(name string) bool { return strings.EqualFold(name, parts[1]) })
}
