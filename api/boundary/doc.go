// Package boundary reads the boundaries that an operator wants on maps, from a GeoJSON
// FeatureCollection (RFC 7946) of countries, first-level and second-level units. An area is joined
// to the records by its code.
//
// The file is read feature by feature. Whatever bytes it has, reading ends with a set or with an
// error that names the feature, and takes no more memory than the bounds in read.go allow.
package boundary
