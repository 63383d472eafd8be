package ogc

import "hdqs/api/contract"

// description is the description of the interface in OpenAPI 3.0.
func (s *Service) description(base string) object {
	ref := func(name string) object { return object{"$ref": "#/components/parameters/" + name} }
	get := func(id, summary, contentType string, params ...object) object {
		answer := object{contentType: object{"schema": object{"type": "object"}}, "text/html": object{
			"schema": object{"type": "string"},
		}}
		failed := object{"description": "What is wrong.", "content": object{
			jsonType: object{"schema": object{"$ref": "#/components/schemas/exception"}},
		}}
		return object{"get": object{
			"operationId": id, "summary": summary, "parameters": append(params, ref("f")),
			"responses": object{"200": object{"description": summary, "content": answer}, "default": failed},
		}}
	}
	query := func(name, about string, schema object) object {
		return object{
			"name": name, "in": "query", "description": about, "required": false, "style": "form", "explode": false,
			"schema": schema,
		}
	}
	paths := object{
		"/":            get("landing", "What there is", jsonType),
		"/conformance": get("conformance", "What the service keeps to", jsonType),
		"/api":         get("api", "This description", openAPIType),
		"/collections": get("collections", "The collections", jsonType),
	}
	feature := object{"name": "featureId", "in": "path", "required": true, "schema": object{"type": "string"}}
	for _, c := range s.collections {
		params := []object{ref("limit"), ref("bbox"), ref("datetime"), ref("token")}
		for _, p := range c.params {
			params = append(params, query(p.name, p.about, schemaOf(p.kind, p.enum)))
		}
		at := "/collections/" + c.id
		paths[at] = get(c.id, c.title, jsonType)
		paths[at+"/items"] = get(c.id+".items", "Features: "+c.title, geoJSONType, params...)
		paths[at+"/items/{featureId}"] = get(c.id+".item", "A feature: "+c.title, geoJSONType, feature)
		paths[at+"/queryables"] = get(c.id+".queryables", "What can be filtered: "+c.title, schemaType)
	}
	return object{
		"openapi": "3.0.3",
		"info":    object{"title": "Humanitarian data on the map", "version": contract.InterfaceVersion},
		"servers": []object{{"url": base[:len(base)-1]}},
		"paths":   paths,
		"components": object{
			"parameters": object{
				"limit": query("limit", "The most features of a page. Greater ones mean the maximum.", object{
					"type": "integer", "minimum": 1, "maximum": maxLimit, "default": usualLimit,
				}),
				"bbox": query("bbox", "West, south, east, north in degrees. A west that is greater crosses 180.",
					object{"type": "array", "minItems": 4, "maxItems": 6, "items": object{"type": "number"}}),
				"datetime": query("datetime", "A time or an interval. Features without a time are of any.",
					object{"type": "string"}),
				"token": query("token", "Of a link to a next page.", object{"type": "string"}),
				"f":     query("f", "The form.", object{"type": "string", "enum": []string{"json", "html"}}),
			},
			"schemas": object{"exception": object{
				"type": "object", "required": []string{"code"}, "properties": object{
					"code": object{"type": "string"}, "description": object{"type": "string"},
				},
			}},
		},
	}
}
