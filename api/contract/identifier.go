package contract

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// IdentifierParam is the query parameter of the application identifier. Both name sets have it.
const IdentifierParam = "app_identifier"

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
	return !slices.Contains(EncodePaths(s), path) && !slices.Contains(VersionPaths(s), path) &&
		!slices.Contains(IndexPaths(s), strings.TrimSuffix(path, "/"))
}

// EncodePaths are the paths that make an identifier.
func EncodePaths(s NameSet) []string { return utilityPaths[s][0] }

// VersionPaths are the paths of the versions.
func VersionPaths(s NameSet) []string { return utilityPaths[s][1] }

// IndexPaths are the paths that list the endpoints.
func IndexPaths(s NameSet) []string {
	if s == HAPINames {
		return []string{strings.TrimSuffix(v2Root, "/"), strings.TrimSuffix(v1Root, "/")}
	}
	return []string{strings.TrimSuffix(v2Root, "/")}
}

// IsV1 reports whether a path is one of version 1, or has no version. Such lists exist in HAPI
// names only.
func IsV1(path string) bool {
	return strings.HasPrefix(path, unversionedRoot) && !strings.HasPrefix(path, v2Root)
}

var utilityPaths = [...][2][]string{
	ContractNames: {{EncodePath, inV1(EncodePath)}, {VersionPath}},
	HAPINames: {
		{EncodePath, inV1(EncodePath), bare(EncodePath)},
		{VersionPath, inV1(VersionPath), bare(VersionPath)},
	},
}

// bare is the path without a version for one of version 2.
func bare(path string) string { return unversionedRoot + strings.TrimPrefix(path, v2Root) }

// inV1 is the path of version 1 for one of version 2.
func inV1(path string) string { return v1Root + strings.TrimPrefix(path, v2Root) }

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
	if identifierFault(value, strictDecoder) == "" {
		return nil
	}
	fault := identifierFault(value, tolerantDecoder)
	if fault == "" {
		return nil
	}
	if bytes.IndexByte(value, '@') >= 0 {
		fault = "The identifier is not encoded: it must be the base64 of application:email."
	}
	return &Forbidden{Text: "Invalid app identifier", Hint: fault + " " + help}
}

// decoder is a way to decode an identifier: that of the first implementation, or ours, which also
// accepts base64 changed by its passage through a URL, and colons in the application's name.
type decoder struct {
	appendBytes func(dst, text []byte) ([]byte, bool)
	colon       func(text []byte) int
}

var (
	strictDecoder   = decoder{appendBytes: appendBase64, colon: onlyColon}
	tolerantDecoder = decoder{appendBytes: appendAnyBase64, colon: lastColon}
)

func onlyColon(text []byte) int {
	i := bytes.IndexByte(text, ':')
	if i != bytes.LastIndexByte(text, ':') {
		return -1
	}
	return i
}

func lastColon(text []byte) int { return bytes.LastIndexByte(text, ':') }

// identifierFault returns what is wrong with an identifier, empty for a valid one.
func identifierFault(value []byte, r decoder) string {
	for _, c := range value {
		if c >= utf8.RuneSelf {
			return "The identifier has characters that base64 does not use."
		}
	}
	var room [256]byte
	text, ok := r.appendBytes(room[:0], value)
	if !ok {
		return "The identifier is not base64."
	}
	if !utf8.Valid(text) {
		return "The decoded identifier is not UTF-8 text."
	}
	colon := r.colon(text)
	if colon < 0 {
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
// a '=' counts only if it closes a group, and what follows a closed group is ignored. ok is false
// if a group stays open.
func appendBase64(dst, text []byte) ([]byte, bool) {
	dst, open := appendGroups(dst, text, base64Digit)
	return dst, open == 0
}

// appendAnyBase64 also takes '-' and '_' for '+' and '/', a blank for a '+' that a query turned
// into one, and needs no padding.
func appendAnyBase64(dst, text []byte) ([]byte, bool) {
	dst, open := appendGroups(dst, text, anyBase64Digit)
	return dst, open != 1
}

// appendGroups decodes groups of four digits; open is the number of digits in the last, unclosed
// one.
func appendGroups(dst, text []byte, digit func(byte) int) (out []byte, open int) {
	var group uint32
	pads := 0
	for _, c := range text {
		if c == '=' {
			if open >= 2 {
				if pads++; open+pads >= 4 {
					return appendOpen(dst, group, open), 0
				}
			}
			continue
		}
		d := digit(c)
		if d < 0 {
			continue
		}
		pads = 0
		group = group<<6 | uint32(d)
		if open++; open == 4 {
			dst = append(dst, byte(group>>16), byte(group>>8), byte(group))
			group, open = 0, 0
		}
	}
	return appendOpen(dst, group, open), open
}

// appendOpen appends the whole bytes of an unfinished group.
func appendOpen(dst []byte, group uint32, open int) []byte {
	switch open {
	case 2:
		return append(dst, byte(group>>4))
	case 3:
		return append(dst, byte(group>>10), byte(group>>2))
	}
	return dst
}

func base64Digit(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}

func anyBase64Digit(c byte) int {
	switch c {
	case '-', ' ':
		return 62
	case '_':
		return 63
	}
	return base64Digit(c)
}

// EncodeIdentifier makes the identifier of an application and a contact address. issues has the
// errors in both.
func EncodeIdentifier(application, email string) (identifier string, issues []Issue) {
	switch n := runeCount(application); {
	case n < minApplication:
		issues = append(issues, tooShortText("application", application, minApplication))
	case n > maxApplication:
		issues = append(issues, tooLong("application", application, maxApplication))
	}
	normal := ""
	if runeCount(email) > maxIdentifier {
		issues = append(issues, tooLong("email", email, maxIdentifier))
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
	for _, r := range []decoder{strictDecoder, tolerantDecoder} {
		if identifierFault(value, r) == "" {
			text, _ := r.appendBytes(nil, value)
			colon := r.colon(text)
			return string(text[:colon]), string(text[colon+1:]), nil
		}
	}
	return "", "", errors.New(identifierFault(value, tolerantDecoder))
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
			issues[i] = missing(issue.Param)
		}
	}
	return identifier, issues
}
