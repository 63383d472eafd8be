// Package ogc serves places as OGC API - Features, for QGIS, GDAL and programs that read it: the
// rows of lists that have a place on the map, and the areas of the operator's boundaries with
// headline figures. docs/spreadsheets.md is for those who use it.
//
// The files, each of which uses those below it:
//
//	serve.go openapi.go      documents; the description of the interface
//	rows.go areas.go         features: rows of lists, areas
//	options.go               parameters of features
//	collection.go extent.go  collections; where and when their features are
//	page.go request.go       a document as HTML; a request and its answer
//
// # Filters
//
// Every property of a feature is a parameter that means equality: clients hand conditions to the
// server in the belief that it does, and do not check the answer (GDAL). A list's parameter with
// the name of a property means more than that, so only those with other names are here. Unknown
// parameters are refused: a filter that is not applied gives wrong rows.
//
// # Pages
//
// The link to the next page has a token with the state of the data that the first was of, as that
// of OData has (package odata). Areas also name the boundaries, which another file may replace.
//
// # Tried
//
// CQL2 is not here. What lists can be asked is the properties' equality and their own parameters;
// a grammar for that is longer than all of this, and clients filter the rest themselves.
package ogc
