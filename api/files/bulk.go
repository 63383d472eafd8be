package files

import (
	"net/url"
	"strings"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/api/list"
	"hdqs/api/reply"
	"hdqs/api/wire"
	"hdqs/bulk"
)

// Bulk files are whole tables of snapshots (package bulk), below BulkPath:
//
//	/bulk/index.json                the snapshots that have files here
//	/bulk/latest/...                a redirect to the same path of the latest of them
//	/bulk/ID/manifest.json          what files a snapshot has, with paths relative to it
//	/bulk/ID/manifest.sig           its signature, if it has one
//	/bulk/ID/PATH                   a file of the manifest, or a document for catalogs
//	/bulk/PATH                      the same as /bulk/latest/PATH, for readers of OCHA's tree
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

var (
	bulkFileHead = reply.NewHead(reply.Safe("Cache-Control", reply.ImmutableKept, "Accept-Ranges", "bytes",
		"Access-Control-Expose-Headers", reply.ExposedOfFiles)...)
	bulkSameHead = reply.NewHead("Cache-Control", reply.ImmutableKept, "Accept-Ranges", "bytes",
		"Access-Control-Expose-Headers", reply.ExposedOfFiles)
	bulkMovedHead = reply.NewHead(reply.Safe("Cache-Control", latestKept, "Vary", "Range")...)
)

// wholeTable is the hint at a parameter of a file.
const wholeTable = "a file has all records of its table; for some of them ask for LIST/export"

// AddBulk registers the paths of bulk files.
func (s *Files) AddBulk(m *list.Mount) {
	if !s.State.Options.Bulk {
		return
	}
	to := list.Route{Name: BulkPath, Answer: func(ctx *fasthttp.RequestCtx) error {
		if faults := contract.FileFaults(ctx.URI().QueryString(), m.Names, wholeTable); faults != nil {
			return faults
		}
		return s.answerBulk(ctx, m)
	}}
	if s.State.Options.BulkIdentifier {
		to.Identify = m
	}
	for _, path := range []string{
		BulkPath + bulkIndex, BulkPath + latestBulk + "/" + bulkManifest, bulkRoot, BulkPath + list.Wildcard,
	} {
		s.Lists.Routes.Add(m, path, to)
	}
}

func (s *Files) answerBulk(ctx *fasthttp.RequestCtx, m *list.Mount) error {
	inventory := s.Bulk.Load()
	if inventory == nil {
		return reply.ErrNoSnapshot
	}
	rest := strings.TrimPrefix(reply.PathOf(ctx)[len(m.Prefix+bulkRoot):], "/")
	id, path, _ := strings.Cut(rest, "/")
	latest := inventory.byID[inventory.Latest]
	if latest != nil && rest == bulk.Collection && latest.has(latestCollection) {
		return s.answerBulkText(ctx, latestKept, latest.documents()[latestCollection], reply.LandingKey)
	}
	if latest != nil && inventory.byID[id] == nil && latest.has(rest) {
		id, path = latestBulk, rest
	}
	switch {
	case id == "":
		return s.redirectBulk(ctx, m.Prefix+BulkPath+bulkIndex)
	case id == bulkIndex && path == "":
		return s.answerBulkText(ctx, latestKept, inventory.index, reply.LandingKey)
	case id == latestBulk && inventory.Latest != "":
		file := url.URL{Path: strings.TrimLeft(path, "/")}
		target := m.Prefix + BulkPath + inventory.Latest + "/" + file.EscapedPath()
		if mayMix(ctx, path) {
			return reply.ErrPartOfLatest.WithHint("parts of the file as it is now: " + target)
		}
		return s.redirectBulk(ctx, target)
	case id == latestBulk:
		return reply.ErrNotFound.WithHint(hintNoBulk)
	}
	files := inventory.byID[id]
	switch index := m.Prefix + BulkPath + bulkIndex; {
	case files == nil && inventory.gone[id]:
		return reply.ErrBulkGone.WithHint(hintBulkIndex + index)
	case files == nil:
		return reply.ErrNotFound.WithHint(hintBulkIndex + index)
	case path == "":
		return s.redirectBulk(ctx, m.Prefix+BulkPath+files.id+"/"+bulkManifest)
	case path == bulkManifest:
		return s.answerBulkText(ctx, reply.ImmutableKept, files.manifest, bulkKey(files.id))
	case path == bulkSignature && files.signature != nil:
		return s.answerBulkText(ctx, reply.ImmutableKept, files.signature, bulkKey(files.id))
	case files.byPath[path] == nil && files.documents()[path] != nil:
		return s.answerBulkText(ctx, reply.ImmutableKept, files.documents()[path], bulkKey(files.id))
	}
	return s.answerBulkFile(ctx, m, files, path)
}

// mayMix reports whether a part of a file of the latest snapshot is asked for, without a condition.
// A client that reads several parts would get those of two files if a new snapshot came between
// them, and not every client notices. Manifests and documents are small, and a mixture of two is
// not JSON. The first four bytes, by which clients find out whether a Parquet file is there, are
// the same in all of them.
func mayMix(ctx *fasthttp.RequestCtx, path string) bool {
	header := &ctx.Request.Header
	if strings.HasSuffix(path, ".json") ||
		strings.HasSuffix(path, ".parquet") && string(header.Peek(fasthttp.HeaderRange)) == "bytes=0-3" {
		return false
	}
	return len(header.Peek(fasthttp.HeaderRange)) > 0 &&
		len(header.Peek(fasthttp.HeaderIfRange)) == 0
}

// LatestBulk is the latest snapshot that has bulk files here, empty without one.
func (s *Files) LatestBulk() string {
	if inventory := s.Bulk.Load(); inventory != nil {
		return inventory.Latest
	}
	return ""
}

func bulkKey(id string) string { return "snap-" + id }

// redirectBulk redirects to a path, without the query of the request: it can only have an
// identifier, and caches give the redirect to others.
func (s *Files) redirectBulk(ctx *fasthttp.RequestCtx, path string) error {
	h := bulkMovedHead.Begin(ctx)
	s.State.SetSnapshot(h)
	s.State.SetPageKeys(h, reply.LandingKey)
	h.Set("Location", path)
	ctx.SetStatusCode(fasthttp.StatusFound)
	return nil
}

// answerBulkText sends a manifest, a signature or the index, in the coding that the client prefers.
func (s *Files) answerBulkText(ctx *fasthttp.RequestCtx, kept string, content *list.PageContent, key string) error {
	fields := reply.Safe("Cache-Control", kept, "Vary", "Accept-Encoding", "Content-Type", contract.JSONType)
	head := list.NewPageHead(contract.JSONType, reply.DataPolicy, key, fields...)
	return s.Lists.Pages.Send(ctx, &head, content)
}

func (s *Files) answerBulkFile(ctx *fasthttp.RequestCtx, m *list.Mount, files *bulkFiles, path string) error {
	f := files.byPath[path]
	if f == nil {
		index := m.Prefix + BulkPath + files.id + "/" + bulkManifest
		return reply.ErrNotFound.WithHint("the files are listed at " + index)
	}
	list.LogOf(ctx).NoteFile(files.id, f.path)
	validators := reply.Validators{Tag: f.weakTag, Strong: f.tag}
	switch same, err := validators.Check(&ctx.Request.Header, wire.AllConditions); {
	case err != nil:
		return err
	case same:
		s.setFileFields(bulkSameHead.Begin(ctx), files, f)
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return nil
	}
	part, result := reply.PartFor(ctx, f.tag, f.bytes)
	if result == reply.NoSuchPart || result == reply.SeveralParts {
		s.State.AnswerError(ctx, reply.ErrNoSuchRange)
		reply.SetPart(ctx, part, result, f.bytes)
		h := &ctx.Response.Header
		h.Set("Accept-Ranges", "bytes")
		if result == reply.SeveralParts {
			h.SetCanonical(reply.NameHint, []byte("send one request for each range"))
		}
		return nil
	}
	file, opened, err := s.soundFile(f.openFile)
	if err != nil {
		s.State.Log.Error("a bulk file cannot be read", "snapshot", files.id, "path", f.path, "error", err)
		return reply.ErrNoBulkFile
	}
	h := bulkFileHead.Begin(ctx)
	s.setFileFields(h, files, f)
	h.SetContentType(f.contentType)
	reply.SetPart(ctx, part, result, f.bytes)
	body := &wire.FileBody{
		File: file, From: part.First, To: part.End, Pace: wire.NewPace(ctx, s.Lists.Public.WriteTimeout),
		Changed: func() bool { return wasWritten(file, opened) },
	}
	list.SendStream(ctx, body, int(part.End-part.First), encode.Identity, 0)
	return nil
}

// setFileFields sets the fields that a file has in every answer.
func (s *Files) setFileFields(h *fasthttp.ResponseHeader, files *bulkFiles, f *bulkFile) {
	h.SetCanonical(reply.NameETag, f.tag)
	h.SetCanonical(reply.NameSnapshot, files.idField)
	if s.State.Options.SurrogateKey || s.State.Options.CacheTag {
		s.State.SendKeys(h, []byte(reply.AllKey+" "+bulkKey(files.id)))
	}
}
