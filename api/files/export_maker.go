package files

import (
	"errors"

	"hdqs/api/encode"
	"hdqs/internal/background"
)

// exportMaker makes the body of an export in pieces, in a goroutine whose thread has a low
// priority, so that it does not keep short queries from a core. A piece is made while the one
// before it is sent. Few exports are made at a time (exportGate).
type exportMaker struct {
	st    *exportStream
	piece []byte
	made  chan []byte // to be sent; closed at the end
	free  chan []byte // the memory of pieces that were sent
	quit  chan struct{}
	err   error  // why the body is not complete, once made is closed
	end   func() // gives back the thread that a long export lets the Go runtime use; nil before
}

// exportPiece is the most that is sent at a time: the kernel copies it in about 40 microseconds, in
// which a core does nothing else.
const exportPiece = 128 << 10

// errNotSent ends the making of an export that can be sent no further.
var errNotSent = errors.New("api: an export could not be sent")

func newExportMaker(st *exportStream) *exportMaker {
	m := &exportMaker{
		st: st, piece: make([]byte, 0, exportPiece),
		made: make(chan []byte, 1), free: make(chan []byte, 2), quit: make(chan struct{}),
	}
	m.free <- make([]byte, 0, exportPiece)
	background.Start(func() {
		defer close(m.made)
		m.err = m.st.inTurn(m.writeBody)
	})
	return m
}

// stop waits until nothing is made any more.
func (m *exportMaker) stop() {
	close(m.quit)
	for range m.made {
	}
	if m.end != nil {
		m.end()
	}
}

// inTurn runs work of an export when it is its turn, in a goroutine that package background
// started. A panic of the work is its error.
func (st *exportStream) inTurn(work func() error) (err error) {
	defer st.server.State.RecoverBody(&err)
	st.server.Exports.begin()
	defer st.server.Exports.end()
	return work()
}

func (m *exportMaker) writeBody() (err error) {
	st := m.st
	if st.coding == encode.Identity {
		err = st.write(m)
	} else {
		coded := encode.NewStream(st.coding, m)
		if err = st.write(coded); err == nil {
			err = coded.Close()
		}
	}
	if err == nil && len(m.piece) > 0 {
		err = m.pass()
	}
	return err
}

// Write adds to the body.
func (m *exportMaker) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		part := p[n:min(n+exportPiece-len(m.piece), len(p))]
		m.piece = append(m.piece, part...)
		n += len(part)
		if len(m.piece) == exportPiece {
			err = m.pass()
		}
	}
	return n, err
}

// pass passes the piece on to be sent. Meanwhile others may be made.
func (m *exportMaker) pass() error {
	if m.end == nil && len(m.piece) == exportPiece {
		m.end = background.More()
	}
	m.st.server.Exports.end()
	defer m.st.server.Exports.begin()
	select {
	case m.made <- m.piece:
	case <-m.quit:
		return errNotSent
	}
	select {
	case m.piece = <-m.free:
		return nil
	case <-m.quit:
		return errNotSent
	}
}
