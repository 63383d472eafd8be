package wire

import "bytes"

// progress tracks the request that a connection is reading. fasthttp discards what it has read when
// it fails to parse a request.
//
// It counts the request's bytes. fasthttp limits header, body and trailers, but reads and drops
// what is between the chunks of a body without limit. It reads only while it does not have the end
// of the request, so all bytes count for that request, however many are pipelined.
//
// It counts the bytes since the last line end. When a request does not fit into the read buffer,
// this distinguishes a URI that is too long from header fields that are.
//
// It keeps the first bytes, to recognise HEAD: the answer to a HEAD has no body, even if the
// request could not be read.
type progress struct {
	given   int  // bytes that fasthttp has read
	tooLong bool // the request exceeded the maximum
	refused bool // too many others are not complete
	line    int  // bytes since the last line end
	ended   bool // the last read ended with an empty line
	more    bool // the bytes seem to contain more than one request
	begun   int  // how many bytes of start are known; -1 if the start of the request is unknown
	start   [len(headStart)]byte
}

// headStart is the start of a HEAD request.
const headStart = "HEAD "

var emptyLine = []byte("\r\n\r\n")

// begin is called between requests. all reports that every byte read so far has been used.
func (r *progress) begin(all bool) {
	r.given, r.begun = 0, 0
	if !all || !r.ended {
		r.begun = -1 // a part of the request was read already, or may have been
	}
}

// isFull reports whether the request has the maximum number of bytes, and records that it exceeds
// it.
func (r *progress) isFull(most int) bool {
	if r.given < most {
		return false
	}
	r.tooLong = true
	return true
}

// note records bytes that arrived from the network.
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

// isHead reports whether the request is certainly a HEAD. That is unknown for pipelined requests.
func (r *progress) isHead() bool {
	return r.begun == len(headStart) && string(r.start[:]) == headStart
}
