// Package find finds what the data has by the words that people use: countries, provinces,
// districts, lists and their fields, sectors, organisations, commodities, markets, datasets and
// headline figures.
//
// An Index of the names of a snapshot is made once, during the warm-up. It is in memory only, and
// counts with the tables whose names it has. Each name has its words, in lower case and without
// accents; each word has the names in which it occurs. A search needs every word: the whole word,
// or for words of three letters and the last one its beginning. words.txt has the words that the
// data does not have: short forms, and the words of other languages.
//
// A search whose words name a country and a headline figure is answered with the figure itself.
package find
