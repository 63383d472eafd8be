package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hdqs/api/contract"
	"hdqs/api/encode"
	"hdqs/index"
	"hdqs/rowdiff"
)

// A client that still has a page of an earlier snapshot can be sent today's page as what differs
// from it: Compression Dictionary Transport (RFC 9842). Use-As-Dictionary asks it to keep the page,
// under the id of the version of the table. Its next request for the same URL names that id and the
// digest of the page. If a snapshot with that version is still held, the digest is compared with
// that of the page as it was, which is rendered once for that, and the answer is coded in dcz
// (dictionary_page.go). Everybody else gets the other codings.

// Names of header fields in canonical form.
var (
	nameUseAsDictionary = []byte("Use-As-Dictionary")
	nameAvailable       = []byte("Available-Dictionary")
	nameDictionaryID    = []byte("Dictionary-Id")
	nameForwardedProto  = []byte("X-Forwarded-Proto")
)

// dictionaryVary is Vary where an answer depends on the dictionary that the client has.
const dictionaryVary = "Accept-Encoding, Available-Dictionary"

// dictionary is an earlier page that the client has.
type dictionary struct {
	served *served // that the page is of
	list   *boundList
	pageDigest
	equal []rowdiff.EqualRows // of the tables
}

// offersDictionaries reports whether pages may be dictionaries for each other. Clients must use
// them over HTTPS only, and a proxy may serve both.
func (s *Server) offersDictionaries(a *reply) bool {
	return s.options.Dictionaries && a.computation == nil && a.list.segment != nil && a.request.Format == "" &&
		!a.request.GeoJSON && a.request.Snapshot == "" &&
		!bytes.EqualFold(a.ctx.Request.Header.PeekBytes(nameForwardedProto), []byte("http"))
}

// idLength is the length of a version in the id of a dictionary.
const idLength = 16

// setDictionary asks the client to keep a page for its next request for the same URL. Short pages
// are not worth it.
func (s *Server) setDictionary(h *fasthttp.ResponseHeader, a *reply) {
	if a.page.Rows < manyRows || len(a.list.version) < idLength || a.request.HasUnknown() ||
		a.request.HasIdentifierValue() {
		return
	}
	text, ok := appendMatch(append(a.text[:0], `match="`...), a.ctx.Request.Header.RequestURI())
	if !ok {
		return
	}
	a.text = append(append(append(text, `", id="`...), a.list.version[:idLength]...), '"')
	h.SetCanonical(nameUseAsDictionary, a.text)
}

// mostMatched is the longest target that is asked to be kept. The field has it once more.
const mostMatched = 1 << 10

// appendMatch appends a pattern that matches only a request target, whatever the app identifier: a
// shared cache may send the answer to others. ok is false if there is no such pattern in plain
// characters.
func appendMatch(dst, target []byte) (_ []byte, ok bool) {
	if len(target) > mostMatched || len(target) == 0 || target[0] != '/' {
		return dst, false
	}
	start, name := true, false // of a parameter, and whether its name goes on
	for i := 0; i < len(target); i++ {
		c := target[i]
		if start && bytes.HasPrefix(target[i:], []byte(contract.IdentifierParam+"=")) {
			dst = append(dst, contract.IdentifierParam+"=*"...)
			n := bytes.IndexByte(target[i:], '&')
			if n < 0 {
				break
			}
			i += n
			c = '&'
		}
		start = c == '?' || c == '&'
		name = start || name && c != '='
		switch {
		case name && (c == '%' || c == '+'): // the name may be that of the identifier
			return dst, false
		case strings.IndexByte(`:?+*()`, c) >= 0: // special in patterns; a backslash is written twice
			dst = append(dst, '\\', '\\', c)
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			strings.IndexByte(`/&=%,-._~;@!$`, c) >= 0:
			dst = append(dst, c)
		default:
			return dst, false
		}
	}
	return dst, true
}

// findDictionary returns the page that a client offers as a dictionary, and acquires its snapshot.
// It is nil if there is none, or the client does not accept dcz, or the page is of no snapshot that
// is held.
func (s *Server) findDictionary(a *reply, accept string) *dictionary {
	offered := a.ctx.Request.Header.PeekBytes(nameAvailable)
	if len(offered) == 0 || a.coding == encode.Identity || !s.offersDictionaries(a) || !encode.AcceptsDcz(accept) {
		return nil
	}
	digest, ok := readDigest(offered)
	id := bytes.Trim(a.ctx.Request.Header.PeekBytes(nameDictionaryID), `" `)
	if !ok || len(id) != idLength {
		return nil
	}
	held := s.acquireVersion(a, string(id))
	if held == nil {
		return nil
	}
	d := &dictionary{served: held, list: held.bound.lists[a.endpoint.Path]}
	if !s.knowDictionary(a, d) || d.sum != digest {
		held.release(s.log)
		return nil
	}
	return d
}

// readDigest reads a structured field with a byte sequence of the length of a digest.
func readDigest(field []byte) (digest [sha256.Size]byte, ok bool) {
	field = bytes.TrimSpace(field)
	var sum [sha256.Size + 1]byte
	if len(field) != base64.StdEncoding.EncodedLen(sha256.Size)+2 || field[0] != ':' || field[len(field)-1] != ':' {
		return digest, false
	}
	n, err := base64.StdEncoding.Decode(sum[:], field[1:len(field)-1])
	copy(digest[:], sum[:])
	return digest, err == nil && n == sha256.Size
}

// acquireVersion acquires a snapshot in which the table of a request has a version, by the start of
// it: the one that answers, or one that is retained.
func (s *Server) acquireVersion(a *reply, id string) *served {
	if strings.HasPrefix(a.list.version, id) {
		a.served.refs.Add(1) // the request has one
		return a.served
	}
	s.retained.Lock()
	defer s.retained.Unlock()
	for _, v := range s.retained.entries {
		if strings.HasPrefix(v.bound.lists[a.endpoint.Path].version, id) && v.acquire() {
			return v
		}
	}
	return nil
}

// knowDictionary finds the digest of an earlier page, and the rows that the two tables have in
// common. It reports false if it cannot now.
func (s *Server) knowDictionary(a *reply, d *dictionary) (ok bool) {
	if d.equal = s.equalRows(a, d); len(d.equal) == 0 {
		return false
	}
	tag := d.list.named[a.request.Names()].tag
	a.text = a.request.AppendCanonical(append(a.text[:0], tag[:]...))
	key := sha256.Sum256(a.text)
	if d.pageDigest, ok = s.digests.get(key); ok {
		return true
	}
	if !s.gate.Enter(true) {
		return false
	}
	defer s.gate.Leave()
	return s.guarded(d.list, func() bool {
		var page index.Page
		if d.list.pageOf(a.scratch, &page) != nil || page.Rows == 0 {
			return false
		}
		a.body = d.list.form(a.scratch).Append(a.body[:0], page.Ranges)
		d.pageDigest = pageDigest{sha256.Sum256(a.body), len(a.body)}
		return true
	}) && s.digests.put(key, d.pageDigest)
}

// pageOf finds the page of a request.
func (l *boundList) pageOf(sc *scratch, page *index.Page) error {
	l.setQuery(sc)
	return l.index.Select(&sc.query, page)
}

// guarded calls do, which reads the segment of a list besides the one that answers. It reports
// false if do does, or if the segment is damaged. Other panics go on.
func (s *Server) guarded(list *boundList, do func() bool) (ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			if !s.wasFault(list, fault) {
				panic(fault)
			}
			ok = false
		}
	}()
	return do() && !list.isSuspect()
}

// pageDigest is the digest of a page, and its length.
type pageDigest struct {
	sum    [sha256.Size]byte
	length int
}

// pageDigests keeps the digests of pages that were offered as dictionaries, by what their entity
// tags are made of.
type pageDigests struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]pageDigest
}

// mostDigests bounds the digests, to about 1 MiB.
const mostDigests = 1 << 12

func (p *pageDigests) get(key [sha256.Size]byte) (pageDigest, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok := p.known[key]
	return d, ok
}

// put keeps a digest. Too many are all forgotten: they are soon known again. It reports true.
func (p *pageDigests) put(key [sha256.Size]byte, d pageDigest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil || len(p.known) >= mostDigests {
		p.known = map[[sha256.Size]byte]pageDigest{}
	}
	p.known[key] = d
	return true
}

// bodyKey is the key of the body in the cache. With a dictionary it is another body.
func (a *reply) bodyKey() bodyKey {
	key := bodyKey{a.tag, a.coding, a.refusesIdentity}
	if a.dictionary != nil {
		a.text = append(append(a.text[:0], a.tag.text()...), a.dictionary.sum[:]...)
		key.tag = newEntityTag(sha256.Sum256(a.text))
	}
	return key
}
