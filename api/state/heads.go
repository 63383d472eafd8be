package state

import (
	"time"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/reply"
)

// publication is the publish time of a snapshot, with the heads that contain it.
type publication struct {
	At    time.Time     // in whole seconds; zero when not known
	heads []*tableHeads // by position in contract.Endpoints
}

// tableHeads is the heads of the lists of one table.
type tableHeads struct {
	latest ListHeads
	pinned ListHeads // for requests that name the snapshot: their answers never change
}

// HeadsFor returns the heads of the answer to a request for a list.
func (p *publication) HeadsFor(l *BoundList, r *contract.Request) *ListHeads {
	if r.Scanned.Snapshot != "" {
		return &p.heads[l.position].pinned
	}
	return &p.heads[l.position].latest
}

// ListHeads is the heads of the lists of one table of a snapshot.
type ListHeads struct {
	Whole, InParts BodyHeads // InParts of bodies of which parts are sent
	NotModified    reply.Head
	Stale          string // X-Data-Stale of all of them, empty if they do not have it
}

// BodyHeads is a head for each form of a body.
type BodyHeads struct{ JSON, NDJSON, CSV, Points reply.Head }

// Of is the head of a format. That of a file other than these has another content type.
func (b *BodyHeads) Of(format string) *reply.Head {
	switch format {
	case contract.FormatJSON:
		return &b.JSON
	case contract.FormatNDJSON:
		return &b.NDJSON
	case contract.FormatGeoJSON:
		return &b.Points
	}
	return &b.CSV
}

// newBodyHeads makes heads that begin with the fields that every answer sets: before fasthttp sets
// a field, it searches for it from the first on.
func newBodyHeads(ranges string, shared []string) BodyHeads {
	body := []string{contract.HeaderTotal, "", contract.HeaderResult, "", string(reply.NameETag), ""}
	body = append(append(body, reply.Safe("Accept-Ranges", ranges)...), shared...)
	of := func(contentType string) reply.Head {
		return reply.NewHead(append(body, "Content-Type", contentType)...)
	}
	return BodyHeads{of(contract.JSONType), of(reply.LinesType), of(reply.CsvType), of(reply.GeoType)}
}

// newListHeads makes the heads for a table with a source, of a snapshot published at a given time,
// zero if unknown.
func newListHeads(cacheControl, cdn, id string, at time.Time, source sourceFields) ListHeads {
	shared := []string{"Cache-Control", cacheControl, "Vary", "Accept-Encoding", contract.HeaderSnapshot, id}
	if cdn != "" {
		shared = append(shared, "CDN-Cache-Control", cdn)
	}
	if !at.IsZero() {
		shared = append(shared, "Last-Modified", string(fasthttp.AppendHTTPDate(nil, at)))
	}
	if source.updated != "" {
		shared = append(shared, contract.HeaderUpdated, source.updated)
	}
	if source.stale != "" {
		shared = append(shared, contract.HeaderStale, source.stale)
	}
	return ListHeads{
		Whole:       newBodyHeads("none", shared),
		InParts:     newBodyHeads("bytes", shared),
		NotModified: reply.NewHead(shared...),
		Stale:       source.stale,
	}
}
