package api

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"testing"
)

// TestHeldWrites writes pieces of all lengths around the write buffer's, reads in between, closes, and compares what arrives.
func TestHeldWrites(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 50 {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := publicListener{l, newFlight(0)}.Accept()
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		arrived := make(chan []byte)
		go func() {
			got, _ := io.ReadAll(client)
			arrived <- got
		}()
		for range r.IntN(30) {
			p := make([]byte, []int{1, 100, writeBuffer - 1, writeBuffer, writeBuffer, writeBuffer, writeBuffer + 1, 100_000}[r.IntN(8)])
			for i := range p {
				p[i] = byte(r.Uint32())
			}
			want.Write(p)
			n, err := conn.Write(p)
			clear(p) // the library uses its buffer again
			if n != len(p) || err != nil {
				t.Fatalf("%d of %d bytes written: %v", n, len(p), err)
			}
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if got := <-arrived; !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("%d bytes arrived, %d were written, or others", len(got), want.Len())
		}
		client.Close()
	}
}

// TestHeldUntilRead: what is held goes out when the connection waits for the next request.
func TestHeldUntilRead(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := publicListener{l, newFlight(0)}.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(make([]byte, writeBuffer)); err != nil {
		t.Fatal(err)
	}
	go conn.Read(make([]byte, 1))
	if n, err := io.ReadFull(client, make([]byte, writeBuffer)); err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
}
