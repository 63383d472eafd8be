package contract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Reasons why a text is not an e-mail address, as error texts give them.
const (
	emailNoAt     = "An email address must have an @-sign."
	emailNoLocal  = "There must be something before the @-sign."
	emailNoPeriod = "The part after the @-sign is not valid. It should have a period."
	emailPeriods  = "An email address cannot have two periods in a row."
	emailInvalid  = "The email address is not valid."
)

// Longest parts of an address, in code points.
const (
	maxEmail  = 254
	maxLocal  = 64
	maxDomain = 253
	maxLabel  = 63
)

// reservedLabels are top-level domains without real addresses.
var reservedLabels = []string{"arpa", "invalid", "local", "localhost", "onion", "test"}

// parseEmail reads an address, also in the form "Some Name <address>". normal is the address with
// its domain in lower case; reason is empty if the address is good.
func parseEmail(text string) (normal, reason string) {
	address := bareAddress(text)
	at := strings.IndexByte(address, '@')
	if at < 0 {
		return "", emailNoAt
	}
	local, domain := address[:at], address[at+1:]
	if local == "" {
		return "", emailNoLocal
	}
	if reason := localFault(local); reason != "" {
		return "", reason
	}
	if reason := domainFault(domain); reason != "" {
		return "", reason
	}
	if utf8.RuneCountInString(address) > maxEmail {
		return "", emailInvalid
	}
	return local + "@" + strings.ToLower(domain), ""
}

// bareAddress extracts the address from "Some Name <address>" and trims spaces.
func bareAddress(text string) string {
	trimmed := strings.TrimFunc(text, unicode.IsSpace)
	open := strings.IndexByte(trimmed, '<')
	if open < 0 || !strings.HasSuffix(trimmed, ">") {
		return trimmed
	}
	for _, r := range trimmed[:open] {
		if r != ' ' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return trimmed
		}
	}
	return strings.TrimFunc(trimmed[open+1:len(trimmed)-1], unicode.IsSpace)
}

func localFault(local string) string {
	if strings.Contains(local, "..") {
		return emailPeriods
	}
	if utf8.RuneCountInString(local) > maxLocal || local[0] == '.' || local[len(local)-1] == '.' {
		return emailInvalid
	}
	for _, r := range local {
		ascii := r < utf8.RuneSelf
		if !wordRune(r) && (!ascii || strings.IndexByte("!#$%&'*+-/=?^_`{|}~.", byte(r)) < 0) {
			return emailInvalid
		}
	}
	return ""
}

func domainFault(domain string) string {
	if strings.Contains(domain, "..") {
		return emailPeriods
	}
	for _, r := range domain {
		if r != '-' && r != '.' && !wordRune(r) {
			return emailInvalid
		}
	}
	if domain == "" || utf8.RuneCountInString(domain) > maxDomain || domain[0] == '.' || domain[len(domain)-1] == '.' {
		return emailInvalid
	}
	labels := strings.Split(domain, ".")
	for _, label := range labels {
		if utf8.RuneCountInString(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return emailInvalid
		}
	}
	if len(labels) < 2 {
		return emailNoPeriod
	}
	last := strings.ToLower(labels[len(labels)-1])
	for _, reserved := range reservedLabels {
		if last == reserved {
			return emailInvalid
		}
	}
	if r, _ := utf8.DecodeLastRuneInString(last); !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return emailInvalid
	}
	return ""
}

// wordRune accepts letters and digits, and beyond ASCII also the marks that are parts of letters in
// some scripts.
func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}
