package contract

import (
	"bytes"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hdqs/api/say"
)

// Limits of the application's name, in code points, and of the address.
const (
	minApplication = 4
	maxApplication = 512
	maxIdentifier  = 512
)

// NeedsIdentifier reports whether requests for a path below the interface's prefix need an
// identifier. Paths of version 1 exist in HAPI names only.
func NeedsIdentifier(path string, s NameSet) bool {
	if !strings.HasPrefix(path, "/api") {
		return false
	}
	return !slices.Contains(EncodePaths[s], path) && !slices.Contains(VersionPaths[s], path) &&
		!slices.Contains(IndexPaths[s], strings.TrimSuffix(path, "/"))
}

// Paths beside those of lists, by set of names: those that make an identifier, of the versions, and
// those that list the endpoints.
var (
	EncodePaths = [...][]string{
		ContractNames: {EncodePath, v1Root + encodeName},
		HAPINames:     {EncodePath, v1Root + encodeName, unversionedRoot + encodeName},
	}
	VersionPaths = [...][]string{
		ContractNames: {VersionPath},
		HAPINames:     {VersionPath, v1Root + versionName, unversionedRoot + versionName},
	}
	IndexPaths = [...][]string{ContractNames: {"/api/v2"}, HAPINames: {"/api/v2", "/api/v1"}}
)

// IsV1 reports whether a path is one of version 1, or has no version. Such lists exist in HAPI
// names only.
func IsV1(path string) bool {
	return strings.HasPrefix(path, unversionedRoot) && !strings.HasPrefix(path, v2Root)
}

// QueryIdentifier returns the application identifier in a query string: the last value of its
// parameter, empty without one. The result may share the memory of the query string.
func QueryIdentifier(query []byte) []byte {
	var value []byte
	eachPair(query, func(name, encoded []byte) {
		if nameIs(name, IdentifierParam) {
			value = encoded
		}
	})
	return decodedView(value)
}

// nameIs compares an encoded parameter name.
func nameIs(encoded []byte, name string) bool {
	if isPlain(encoded) {
		return string(encoded) == name
	}
	return string(appendDecoded(nil, encoded)) == name
}

// IdentifierHelp says how to get an identifier below a prefix, and how to send it in the names of a
// set.
func IdentifierHelp(s NameSet, prefix string) string {
	return "Make one at " + prefix + "/api/v2/encode_app_identifier?application=my-app&email=me@example.org " +
		"and send it as the query parameter app_identifier or in the header " + s.IdentifierHeader() + "."
}

// CheckIdentifier returns nil for a good identifier. The error does not contain the identifier; it
// ends with help.
func CheckIdentifier(value []byte, help string) *Forbidden {
	if len(value) == 0 {
		return &Forbidden{
			Text: "Missing app identifier",
			Hint: "Every request needs an application identifier. " + help,
		}
	}
	if identifierFault(value, false) == "" {
		return nil
	}
	fault := identifierFault(value, true)
	if fault == "" {
		return nil
	}
	if bytes.IndexByte(value, '@') >= 0 {
		fault = "The identifier is not encoded: it must be the base64 of application:email."
	}
	return &Forbidden{Text: "Invalid app identifier", Hint: fault + " " + help}
}

// identifierFault returns what is wrong with an identifier, empty for a valid one. An identifier is
// read as the first implementation does, or tolerantly: then base64 may be changed by its passage
// through a URL, and the application's name may have colons.
func identifierFault(value []byte, tolerant bool) string {
	for _, c := range value {
		if c >= utf8.RuneSelf {
			return "The identifier has characters that base64 does not use."
		}
	}
	var room [256]byte
	text, ok := appendBase64(room[:0], value, tolerant)
	if !ok {
		return "The identifier is not base64."
	}
	if !utf8.Valid(text) {
		return "The decoded identifier is not UTF-8 text."
	}
	colon := bytes.LastIndexByte(text, ':')
	if colon < 0 || !tolerant && bytes.IndexByte(text, ':') < colon {
		return "The decoded identifier is not of the form application:email."
	}
	if n := utf8.RuneCount(text[:colon]); n < minApplication || n > maxApplication {
		return "The application's name must have 4 to 512 characters."
	}
	if email := text[colon+1:]; utf8.RuneCount(email) > maxIdentifier {
		return "The e-mail address must have at most 512 characters."
	} else if _, reason := parseEmail(string(email)); reason != "" {
		return "The e-mail address is not valid: " + reason
	}
	return ""
}

// appendBase64 decodes the standard alphabet as lenient decoders do: other characters are dropped,
// a '=' counts only if it closes a group of four, and what follows a closed group is ignored. ok is
// false if a group stays open. Tolerantly it also takes '-' and '_' for '+' and '/', and a blank
// for a '+' that a query turned into one, and needs no padding.
func appendBase64(dst, text []byte, tolerant bool) (out []byte, ok bool) {
	var room [256]byte
	digits, pads, closed := room[:0], 0, false
	for _, c := range text {
		switch {
		case tolerant && (c == '-' || c == ' '):
			c = '+'
		case tolerant && c == '_':
			c = '/'
		}
		open := len(digits) % 4
		switch {
		case isLetterOrDigit(c) || c == '+' || c == '/':
			digits, pads = append(digits, c), 0
		case c == '=' && open >= 2:
			pads++
		}
		if closed = open+pads >= 4; closed {
			break
		}
	}
	open := len(digits) % 4
	if ok = open == 0 || closed || tolerant && open != 1; open == 1 {
		digits = digits[:len(digits)-1]
	}
	out, _ = base64.RawStdEncoding.AppendDecode(dst, digits)
	return out, ok
}

// EncodeIdentifier makes the identifier of an application and a contact address. issues has the
// errors in both.
func EncodeIdentifier(application, email string) (identifier string, issues []Issue) {
	switch n := utf8.RuneCountInString(application); {
	case n < minApplication:
		issues = append(issues, tooShortText.issue("application", application, minApplication))
	case n > maxApplication:
		issues = append(issues, tooLong.issue("application", application, maxApplication))
	}
	normal := ""
	if utf8.RuneCountInString(email) > maxIdentifier {
		issues = append(issues, tooLong.issue("email", email, maxIdentifier))
	} else {
		var reason string
		if normal, reason = parseEmail(email); reason != "" {
			issues = append(issues, notEmail("email", email, reason))
		}
	}
	if issues != nil {
		return "", issues
	}
	return base64.StdEncoding.EncodeToString([]byte(application + ":" + normal)), nil
}

// DecodeIdentifier returns the application and the contact address of a good identifier.
func DecodeIdentifier(identifier string) (application, email string, err error) {
	value := []byte(identifier)
	for _, tolerant := range [...]bool{false, true} {
		if identifierFault(value, tolerant) == "" {
			text, _ := appendBase64(nil, value, tolerant)
			colon := bytes.LastIndexByte(text, ':')
			return string(text[:colon]), string(text[colon+1:]), nil
		}
	}
	return "", "", errors.New(identifierFault(value, true))
}

// EncodeQuery is EncodeIdentifier for a query string with both parameters, either of which may be
// missing.
func EncodeQuery(query []byte) (identifier string, issues []Issue) {
	texts := map[string]string{}
	eachPair(query, func(name, encoded []byte) {
		for _, param := range [...]string{"application", "email"} {
			if nameIs(name, param) {
				texts[param] = string(appendDecoded(nil, encoded))
			}
		}
	})
	identifier, issues = EncodeIdentifier(texts["application"], texts["email"])
	for i, issue := range issues {
		if _, given := texts[issue.Param]; !given {
			issues[i] = Issue{Type: "missing", Param: issue.Param, Text: say.Of("Field required"), NullInput: true}
		}
	}
	return identifier, issues
}

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

// The words between the periods of the two parts of an address. Marks are parts of letters in some
// scripts.
const (
	emailLetter = `\pL\p{Nd}\pM`
	emailAtom   = "[" + emailLetter + "!#$%&'*+/=?^_`{|}~-]+"
	emailLabel  = "[" + emailLetter + "]([" + emailLetter + "-]*[" + emailLetter + "])?"
)

// emailForms are the forms of the two parts. Compiling them takes a millisecond, so a start does
// not.
var emailForms = sync.OnceValues(func() (local, domain *regexp.Regexp) {
	form := func(word string) *regexp.Regexp { return regexp.MustCompile("^" + word + `(\.` + word + ")*$") }
	return form(emailAtom), form(emailLabel)
})

// parseEmail reads an address, also in the form "Some Name <address>". normal is the address with
// its domain in lower case; reason is empty if the address is good.
func parseEmail(text string) (normal, reason string) {
	address := bareAddress(text)
	local, domain, hasAt := strings.Cut(address, "@")
	localForm, domainForm := emailForms()
	isLonger := func(text string, most int) bool { return utf8.RuneCountInString(text) > most }
	switch {
	case !hasAt:
		return "", emailNoAt
	case local == "":
		return "", emailNoLocal
	case strings.Contains(local, ".."):
		return "", emailPeriods
	case isLonger(local, maxLocal) || !localForm.MatchString(local):
		return "", emailInvalid
	case strings.Contains(domain, ".."):
		return "", emailPeriods
	case isLonger(domain, maxDomain) || !domainForm.MatchString(domain):
		return "", emailInvalid
	}
	labels := strings.Split(strings.ToLower(domain), ".")
	last := labels[len(labels)-1]
	end, _ := utf8.DecodeLastRuneInString(last)
	switch {
	case slices.ContainsFunc(labels, func(label string) bool { return isLonger(label, maxLabel) }):
		return "", emailInvalid
	case len(labels) < 2:
		return "", emailNoPeriod
	case slices.Contains(reservedLabels, last) || !unicode.IsLetter(end) && !unicode.IsMark(end) ||
		isLonger(address, maxEmail):
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
