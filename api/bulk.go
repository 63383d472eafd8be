package api

import (
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/wire"
)

// Bulk files are whole tables of snapshots (package bulk), below BulkPath:
//
//	/bulk/index.json                the snapshots that have files here
//	/bulk/latest/...                a redirect to the same path of the latest of them
//	/bulk/ID/manifest.json          what files a snapshot has, with paths relative to it
//	/bulk/ID/manifest.sig           its signature, if it has one
//	/bulk/ID/PATH                   a file of the manifest
//
// What a request asks for is looked up in manifests that were read before; no part of its path ever
// becomes the name of a file. Columns have the contract's names below every mount: a second set of
// files would double the store, and the manifest has both names of each column.

// BulkPath begins the paths of bulk files.
const BulkPath = bulkRoot + "/"

const (
	bulkRoot      = "/bulk"
	latestBulk    = "latest"
	bulkIndex     = "index.json"
	bulkManifest  = "manifest.json"
	bulkSignature = "manifest.sig"

	// latestKept is short: the redirect says which snapshot is the latest.
	latestKept = "public, max-age=60"

	hintBulkIndex = "the snapshots that have bulk files here are listed at "
	hintNoBulk    = "no snapshot that is served here has bulk files; 'hdqs build --bulk' makes them"
)

// exposedOfFiles are the header fields of files that pages of other origins may read.
const exposedOfFiles = exposedHeaders + ", Accept-Ranges, Content-Length, Content-Range"

var (
	bulkFileHead = newHead(safe("Cache-Control", immutableKept, "Accept-Ranges", "bytes",
		"Access-Control-Expose-Headers", exposedOfFiles)...)
	bulkSameHead = newHead("Cache-Control", immutableKept, "Accept-Ranges", "bytes",
		"Access-Control-Expose-Headers", exposedOfFiles)
	bulkTextHead = newHead(safe("Cache-Control", immutableKept, "Vary", "Accept-Encoding",
		"Content-Type", contract.JSONType)...)
	bulkListHead = newHead(safe("Cache-Control", latestKept, "Vary", "Accept-Encoding",
		"Content-Type", contract.JSONType)...)
	bulkMovedHead = newHead(safe("Cache-Control", latestKept, "Vary", "Range")...)
)

// addBulk registers the paths of bulk files.
func (s *Server) addBulk(m *mount) {
	if !s.options.Bulk {
		return
	}
	handler := func(ctx *fasthttp.RequestCtx) {
		if s.options.BulkIdentifier {
			err := s.checkIdentifier(ctx, m, contract.QueryIdentifier(ctx.URI().QueryString()))
			if err != nil {
				s.answerError(ctx, err)
				return
			}
		}
		if faults := contract.FileFaults(ctx.URI().QueryString(), m.names); faults != nil {
			s.answerError(ctx, faults)
			return
		}
		s.answerBulk(ctx, m)
	}
	s.add(m, BulkPath+bulkIndex, route{name: BulkPath, handler: handler})
	s.add(m, BulkPath+latestBulk+"/"+bulkManifest, route{name: BulkPath, handler: handler})
	s.add(m, bulkRoot, route{name: BulkPath, handler: handler})
	s.add(m, BulkPath+wildcard, route{name: BulkPath, handler: handler})
}

// wildcard is the rest of a path.
const wildcard = "{rest:*}"

// answerBulk answers a request for bulk files.
func (s *Server) answerBulk(ctx *fasthttp.RequestCtx, m *mount) {
	inventory := s.bulk.Load()
	if inventory == nil {
		s.answerError(ctx, errNoSnapshot)
		return
	}
	rest := strings.TrimPrefix(pathOf(ctx)[len(m.prefix+bulkRoot):], "/")
	id, path, _ := strings.Cut(rest, "/")
	switch {
	case id == "":
		s.redirectBulk(ctx, m.prefix+BulkPath+bulkIndex)
		return
	case id == bulkIndex && path == "":
		s.answerBulkText(ctx, bulkListHead, inventory.index, landingKey)
		return
	case id == latestBulk && inventory.latest != "":
		target := m.prefix + BulkPath + inventory.latest + "/" + strings.TrimLeft(path, "/")
		if mayMix(ctx, path) {
			s.answerFault(ctx, fasthttp.StatusBadRequest, bodyPartOfLatest)
			ctx.Response.Header.SetCanonical(nameHint, []byte("parts of the file as it is now: "+target))
			return
		}
		s.redirectBulk(ctx, target)
		return
	case id == latestBulk:
		s.answerNoBulk(ctx, fasthttp.StatusNotFound, hintNoBulk)
		return
	}
	files, known := inventory.open(id)
	switch index := m.prefix + BulkPath + bulkIndex; {
	case files == nil && known:
		s.answerNoBulk(ctx, fasthttp.StatusGone, hintBulkIndex+index)
	case files == nil:
		s.answerNoBulk(ctx, fasthttp.StatusNotFound, hintBulkIndex+index)
	case path == "":
		s.redirectBulk(ctx, m.prefix+BulkPath+files.id+"/"+bulkManifest)
	case path == bulkManifest:
		s.answerBulkText(ctx, bulkTextHead, files.manifest, bulkKey(files.id))
	case path == bulkSignature && files.signature != nil:
		s.answerBulkText(ctx, bulkTextHead, files.signature, bulkKey(files.id))
	default:
		s.answerBulkFile(ctx, m, files, path)
	}
}

// mayMix reports whether a part of a file of the latest snapshot is asked for, without a condition.
// A client that reads several parts would get those of two files if a new snapshot came between
// them, and not every client notices. Manifests are small, and a mixture of two is not JSON.
func mayMix(ctx *fasthttp.RequestCtx, path string) bool {
	header := &ctx.Request.Header
	return path != bulkManifest && len(header.Peek(fasthttp.HeaderRange)) > 0 &&
		len(header.Peek(fasthttp.HeaderIfRange)) == 0
}

// bulkKey is the purge key of the files of a snapshot.
func bulkKey(id string) string { return "snap-" + id }

// redirectBulk redirects to a path, with the query of the request, which may have an identifier.
func (s *Server) redirectBulk(ctx *fasthttp.RequestCtx, path string) {
	h := bulkMovedHead.begin(ctx)
	s.setSnapshot(h)
	s.setPageKeys(h, landingKey)
	if query := ctx.URI().QueryString(); len(query) > 0 {
		path += "?" + string(query)
	}
	h.Set("Location", path)
	ctx.SetStatusCode(fasthttp.StatusFound)
}

// answerNoBulk answers a request for what there is not, with what to do.
func (s *Server) answerNoBulk(ctx *fasthttp.RequestCtx, status int, hint string) {
	s.answerFault(ctx, status, bodyNotFound)
	if status == fasthttp.StatusGone {
		ctx.SetBodyString(bodyBulkGone)
	}
	ctx.Response.Header.SetCanonical(nameHint, []byte(hint))
}

// answerBulkText sends a manifest, a signature or the index, in the coding that the client prefers.
func (s *Server) answerBulkText(ctx *fasthttp.RequestCtx, full head, content *pageContent, key string) {
	coding, ok := s.beginPage(ctx, full, full, &content.tag, key)
	if !ok {
		return
	}
	content.send(ctx, coding)
}

// answerBulkFile sends a file or a part of it.
func (s *Server) answerBulkFile(ctx *fasthttp.RequestCtx, m *mount, files *bulkFiles, path string) {
	f := files.byPath[path]
	if f == nil {
		hint := "the files are listed at " + m.prefix + BulkPath + files.id + "/" + bulkManifest
		s.answerNoBulk(ctx, fasthttp.StatusNotFound, hint)
		return
	}
	recordOf(ctx).noteFile(files.id, f.path)
	request := &ctx.Request.Header
	if lines := request.PeekAll(fasthttp.HeaderIfMatch); len(lines) > 0 && !anyLine(lines, f.tag, hasStrongTag) {
		s.answerError(ctx, errPrecondition)
		return
	}
	if lines := request.PeekAll(fasthttp.HeaderIfNoneMatch); anyLine(lines, f.weakTag, listsTag) {
		s.setFileFields(bulkSameHead.begin(ctx), files, f)
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	part, result := partFor(ctx, f.tag, f.bytes)
	if result == noSuchPart || result == severalParts {
		s.answerFault(ctx, fasthttp.StatusRequestedRangeNotSatisfiable, bodyNoSuchRange)
		h := &ctx.Response.Header
		h.Set("Content-Range", string(appendContentRange(nil, part, result, f.bytes)))
		h.Set("Accept-Ranges", "bytes")
		if result == severalParts {
			h.SetCanonical(nameHint, []byte("send one request for each range"))
		}
		return
	}
	file, err := f.open()
	if err != nil {
		s.log.Error("a bulk file cannot be read", "snapshot", files.id, "path", f.path, "error", err)
		s.answerFault(ctx, fasthttp.StatusServiceUnavailable, bodyNoBulkFile)
		ctx.Response.Header.SetCanonical(nameRetryAfter, retryRefused)
		return
	}
	h := bulkFileHead.begin(ctx)
	s.setFileFields(h, files, f)
	h.SetContentType(f.contentType)
	if result == partOfBody {
		ctx.SetStatusCode(fasthttp.StatusPartialContent)
		h.Set("Content-Range", string(appendContentRange(nil, part, result, f.bytes)))
	}
	body := &wire.FileBody{File: file, From: part.first, To: part.end, Timeout: s.public.WriteTimeout}
	if rec := recordOf(ctx); rec != nil {
		rec.streamed, body.Done = true, rec.closed
	}
	wire.SendFile(ctx, body)
}

// setFileFields sets the fields that a file has in every answer.
func (s *Server) setFileFields(h *fasthttp.ResponseHeader, files *bulkFiles, f *bulkFile) {
	h.SetCanonical(nameETag, f.tag)
	h.SetCanonical(nameSnapshot, files.idField)
	if s.options.SurrogateKey || s.options.CacheTag {
		s.sendKeys(h, []byte(AllKey+" "+bulkKey(files.id)))
	}
}

// anyLine reports whether one line of a header field has a tag.
func anyLine(lines [][]byte, tag []byte, has func(line, tag []byte) bool) bool {
	for _, line := range lines {
		if has(line, tag) {
			return true
		}
	}
	return false
}
