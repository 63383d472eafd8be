package site

import (
	"bytes"
	"encoding/xml"
)

// FeedType is the media type of the feed.
const FeedType = "application/atom+xml; charset=utf-8"

// The elements of a feed (RFC 4287).
type (
	atomFeed struct {
		XMLName  xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
		Language string      `xml:"xml:lang,attr"`
		ID       string      `xml:"id"`
		Title    string      `xml:"title"`
		Subtitle string      `xml:"subtitle"`
		Updated  string      `xml:"updated"`
		Author   string      `xml:"author>name"`
		Links    []AtomLink  `xml:"link"`
		Entries  []AtomEntry `xml:"entry"`
	}
	AtomEntry struct {
		ID        string      `xml:"id"`
		Title     string      `xml:"title"`
		Published string      `xml:"published"`
		Updated   string      `xml:"updated"`
		Link      AtomLink    `xml:"link"`
		Summary   string      `xml:"summary"`
		Content   atomContent `xml:"content"`
	}
	AtomLink struct {
		Relation string `xml:"rel,attr"`
		Type     string `xml:"type,attr"`
		Address  string `xml:"href,attr"`
	}
	atomContent struct {
		Type string `xml:"type,attr"`
		Text string `xml:",chardata"`
	}
)

// feedOf renders what changed as a feed. An entry never changes, so it has one time.
func feedOf(data changelog) ([]byte, error) {
	page := data.Base + data.Prefix + ChangelogPath
	feed := atomFeed{
		Language: "en", ID: data.Self, Title: serviceTitle + ": what changed",
		Subtitle: "Which tables and sources each published snapshot has changed.",
		Updated:  data.Updated, Author: serviceTitle,
		Links: []AtomLink{{"self", "application/atom+xml", data.Self}, {"alternate", "text/html", page}},
	}
	for i := range data.Changes {
		c := &data.Changes[i]
		var content bytes.Buffer
		if err := pages().ExecuteTemplate(&content, "change", c); err != nil {
			return nil, err
		}
		feed.Entries = append(feed.Entries, AtomEntry{
			ID: c.ID, Title: "Snapshot " + c.To, Published: c.Time, Updated: c.Time, Summary: c.Summary(),
			Link:    AtomLink{"alternate", "text/html", page + "#" + c.Anchor()},
			Content: atomContent{"html", content.String()},
		})
	}
	body, err := xml.Marshal(feed)
	return append([]byte(xml.Header), append(body, '\n')...), err
}

// escapedXML is a text as it is written in XML.
func escapedXML(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer has no errors
	return b.String()
}
