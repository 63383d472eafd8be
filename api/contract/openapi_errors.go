package contract

func errorSchemas() object {
	text := object{{"type", "string"}}
	closed := func(properties object, required ...any) object {
		return object{
			{"type", "object"},
			{"properties", properties},
			{"required", array(required)},
			{"additionalProperties", false},
		}
	}
	return object{
		{"Detail", closed(object{{"detail", text}}, "detail")},
		{"Busy", closed(object{{"detail", text}, {"rule", text}}, "detail")},
		{"Gone", closed(object{{"detail", text}, {"snapshot", text}}, "detail", "snapshot")},
		{"IdentifierError", closed(object{{"error", text}, {"hint", text}}, "error")},
		{"InternalError", closed(object{
			{"error_sample_list", object{{"type", "array"}, {"items", object{}}}}, {"error", text},
		}, "error_sample_list", "error")},
		{"HTTPValidationError", closed(object{
			{"detail", object{{"type", "array"}, {"items", ref("schemas", "ValidationError")}}},
		}, "detail")},
		{"ValidationError", closed(object{
			{"type", text},
			{"loc", object{{"type", "array"}, {"items", text}}},
			{"msg", text},
			{"input", object{{"anyOf", array{text, object{{"type", "null"}}}}}},
			{"ctx", object{{"type", "object"}}},
		}, "type", "loc", "msg", "input")},
	}
}

func errorResponses() object {
	answer := func(about, schema string) object {
		return object{
			{"description", about},
			{"content", object{{JSONType, object{{"schema", ref("schemas", schema)}}}}},
		}
	}
	notAllowed := append(answer("Only GET, HEAD and OPTIONS.", "Detail"), member{"headers", object{{"Allow", object{
		{"required", true}, {"schema", object{{"type", "string"}, {"const", AllowedMethods}}},
	}}}})
	served := member{"headers", object{{HeaderSnapshot, object{
		{"description", "The snapshot that is served. Not sent before the first one is loaded."},
		{"required", false},
		{"schema", object{{"type", "string"}}},
	}}}}
	return object{
		{"BadDate", append(answer("start_date or end_date is none of the four forms.", "Detail"), served)},
		{"Forbidden", answer("The application identifier is missing or bad.", "IdentifierError")},
		{"MethodNotAllowed", notAllowed},
		{"NotAcceptable", answer("Accept-Encoding refuses every coding there is.", "Detail")},
		{"PreconditionFailed", answer("If-Match lists tags, all of which are weak and match nothing, or the data is "+
			"newer than If-Unmodified-Since.", "Detail")},
		{"TooLong", answer("The path and query together are too long, as with many long values in a list.", "Detail")},
		{"Invalid", append(answer("All parameters that break their rules.", "HTTPValidationError"), served)},
		{"Internal", answer("A fault of the service.", "InternalError")},
		{"Gone", append(answer("The snapshot that the extension snapshot=ID names is not held any more; the current "+
			"one is told.", "Gone"), served)},
		{"Unavailable", answer("No data is loaded yet, or too much is asked at once; Retry-After says when to ask "+
			"again.", "Busy")},
	}
}
