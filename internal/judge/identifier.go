package judge

import (
	"encoding/base64"
	"strings"
)

const identifierHeader = "X-CATALOG-API-APP-IDENTIFIER"

// goodOne and badOne are the identifiers that are sent. Which others are good is not judged here:
// api/contract has them as cases.
var (
	goodOne = base64.StdEncoding.EncodeToString([]byte("judge-app:judge@example.org"))
	badOne  = base64.StdEncoding.EncodeToString([]byte("judge-app:nobody"))
)

const encodePath = pathPrefix + "encode_app_identifier"

// exempt reports whether a path below /api needs no identifier: two do not.
func exempt(path string) bool { return path == encodePath || path == pathPrefix+"util/version" }

// identifierFault is the first check of a request: it returns "" or the error of the 403.
func identifierFault(r request, path string, q query) string {
	if !strings.HasPrefix(path, "/api") || exempt(path) {
		return ""
	}
	value, _ := q.last("app_identifier")
	if value == "" {
		value = r.header(identifierHeader)
	}
	switch value {
	case "":
		return "Missing app identifier"
	case goodOne:
		return ""
	}
	return "Invalid app identifier"
}
