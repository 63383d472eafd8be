package wire

import "bytes"

// progress is what is known of the request that a connection reads. fasthttp forgets what it has
// read when it makes nothing of a request.
//
// It counts the request's bytes. fasthttp bounds header, body and trailers, but reads and drops
// what is between the chunks of a body for as long as it comes. It asks for bytes only while it
// does not have the request's end, so all bytes are that request's, however many requests were sent
// at once.
//
// It counts the bytes since the last line end. When a request does not fit into the read buffer,
// this separates a URI that alone is too long from header fields that are.
//
// It keeps the first bytes, to recognise HEAD: the answer to a HEAD has no body, also when the
// request could not be read.
type progress struct {
	given   int  // bytes that fasthttp got
	tooLong bool // fasthttp was refused more
	line    int  // bytes since the last line end
	ended   bool // the last read ended with an empty line
	more    bool // there is more than one request, as far as one can see
	begun   int  // how many bytes of start are the request's; -1 when its start is unknown
	start   [len(headStart)]byte
}

// headStart is how a HEAD request starts.
const headStart = "HEAD "

var emptyLine = []byte("\r\n\r\n")

// begin is called between requests. all says that everything that was read has been used.
func (r *progress) begin(all bool) {
	r.given, r.begun = 0, 0
	if !all || !r.ended {
		r.begun = -1 // some of the request was read already, or may have been
	}
}

// isFull reports whether the request has as many bytes as one may have, and notes that it wanted
// more.
func (r *progress) isFull(most int) bool {
	if r.given < most {
		return false
	}
	r.tooLong = true
	return true
}

// note looks at bytes that came from the network.
func (r *progress) note(read []byte) {
	if r.begun >= 0 && r.begun < len(r.start) {
		r.begun += copy(r.start[r.begun:], read)
	}
	r.ended = bytes.HasSuffix(read, emptyLine)
	r.more = bytes.Index(read, emptyLine) != len(read)-len(emptyLine)
	if i := bytes.LastIndexByte(read, '\n'); i >= 0 {
		r.line = len(read) - i - 1
	} else {
		r.line += len(read)
	}
}

// isHead reports whether the request is certainly a HEAD. This is unknown of a request that was
// sent before the answer to the one before it.
func (r *progress) isHead() bool {
	return r.begun == len(headStart) && string(r.start[:]) == headStart
}
