package encode

import (
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Stream compresses a body while it is made, into one gzip member or one zstd frame. A stream that
// is not closed has no end, so its reader notices that something is missing.
type Stream struct {
	writer
	pool *sync.Pool
}

// writer is either library's.
type writer interface {
	io.WriteCloser
	Reset(to io.Writer)
}

var gzipStreams = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzipLevel)
	if err != nil {
		panic(err) // the level is a constant
	}
	return w
}}

var zstdStreams = sync.Pool{New: func() any {
	w, err := zstd.NewWriter(nil,
		zstd.WithEncoderLevel(zstdLevel),
		zstd.WithWindowSize(wholeWindow),
		zstd.WithEncoderConcurrency(1), // no goroutines, which could outlive the request
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return w
}}

// NewStream returns a stream in a coding other than Identity.
func NewStream(c Coding, to io.Writer) *Stream {
	pool := &zstdStreams
	if c == Gzip {
		pool = &gzipStreams
	}
	w := pool.Get().(writer)
	w.Reset(to)
	return &Stream{w, pool}
}

// Close ends the stream and keeps its memory for another one.
func (s *Stream) Close() error {
	err := s.writer.Close()
	if err == nil {
		s.Reset(nil) // it must not keep the connection in memory
		s.pool.Put(s.writer)
	}
	return err
}
