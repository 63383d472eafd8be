// Package site answers with pages for people and crawlers: the reference, pages of records, what is
// served and what changed.
//
// The files, each of which uses those below it:
//
//	site.go llms.go         all routes, and pages that are the same for each; texts for crawlers
//	revisions.go            which changes are shown, with the figures that they changed
//	topics.go               all lists; all sources
//	compare.go              countries beside each other
//	changes.go country.go   records that changed; countries
//	sources.go figure.go    sources; drawings and tables of figures as files
//	search.go docs.go       search; the reference
//	changelog.go status.go  what snapshots changed; what is served
//	dataset.go picture.go   a list as linked data; pictures for links to pages
//	browse.go asker.go      records of a list, and the answers that they come from
//	pages.go                what all pages need: templates, places, heads
package site
