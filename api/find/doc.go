// Package find finds what the data has by the words that people use: countries, provinces,
// districts, lists and their fields, sectors, organisations, commodities, markets, datasets and
// headline figures.
//
// An Index of the names of a snapshot is made once, during the warm-up. It is in memory only, and
// counts with the tables whose names it has. Each name has its words, in lower case and without
// accents; each word has the names in which it occurs. A search needs every word: the whole word,
// or for words of three letters and the last one its beginning.
//
// Words that name a figure or a list are a question (parse.go). Each of its words is used in the
// query that answers it, asks for nothing, or is left over. Only where none is left over the answer
// has a number (answer.go): a number for another question is worse than no number. The files in
// words have the words of questions, one for each language.
//
//	find.go                            a search, and what it finds
//	before.go                          what a question over time compares a figure with
//	answer.go regions.go               what answers a question; groups of countries
//	instead.go                         why there is no number, and what there is in its place
//	figure.go narrow.go                its number and filters
//	address.go result.go               pages with records of a name; what is found
//	build.go                           the index of a snapshot
//	parse.go places.go parts.go        the words of a question
//	index.go                           names by their words
//	group.go                           entries by texts
//	words.go                           words as they are compared, and those of the languages
package find
