package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// The ways in which a webStore answers.
const (
	answers int32 = iota
	hangs         // accepts requests and does not answer them
	drips         // sends a byte now and then
	refuses       // answers 503
	endless       // sends a manifest without end
	gone          // answers 404
)

// webStore serves a directory as a store over HTTPS and can hang.
type webStore struct {
	mode   atomic.Int32
	asked  atomic.Int64 // requests so far
	server *http.Server
	ended  chan error // has the reason when the server has ended
	flags  []string   // of replicas that use it
	env    []string
}

// newWebStore serves a directory with a certificate of its own.
func (d *drill) newWebStore(dir string) (*webStore, error) {
	folder, err := d.folder("tls")
	if err != nil {
		return nil, err
	}
	return serveDirectory(dir, filepath.Join(folder, "authority.pem"))
}

// serveDirectory serves a directory, and writes the certificate to a file.
func serveDirectory(dir, authority string) (*webStore, error) {
	certificate, err := selfSigned(authority)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &webStore{
		ended: make(chan error, 1),
		flags: []string{"--store", "https://" + l.Addr().String(), "--allow-private-hosts"},
		env:   []string{"SSL_CERT_FILE=" + authority},
	}
	files := http.FileServer(http.Dir(dir))
	s.server = &http.Server{
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}, ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, files) }),
	}
	go func() { s.ended <- s.server.ServeTLS(l, "", "") }() // until stop
	return s, nil
}

func (s *webStore) answer(w http.ResponseWriter, r *http.Request, files http.Handler) {
	mode := s.mode.Load()
	s.asked.Add(1)
	switch {
	case mode == refuses:
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	case mode == gone:
		http.NotFound(w, r)
		return
	case mode == endless && strings.HasPrefix(r.URL.Path, "/manifests/"):
		for chunk := make([]byte, 1<<16); r.Context().Err() == nil; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
		return
	case mode == answers, mode == endless:
		files.ServeHTTP(w, r)
		return
	}
	for r.Context().Err() == nil && s.mode.Load() == mode {
		if mode == drips {
			w.Header().Set("Content-Length", "10000")
			fmt.Fprint(w, " ")
			_ = http.NewResponseController(w).Flush() // a client that is gone ends the loop
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// The variables that make this program serve a store and do nothing else.
const (
	storeProcess     = "HDQS_DRILL_STORE"       // the directory
	storeCertificate = "HDQS_DRILL_CERTIFICATE" // the file for the certificate
)

// serveStore serves a directory until the process is killed, and prints the flag that names it.
func serveStore(dir, authority string) error {
	s, err := serveDirectory(dir, authority)
	if err != nil {
		return err
	}
	fmt.Println("serving", s.flags[1])
	return <-s.ended
}

// startStoreProcess serves a directory from a process of its own, which can be stopped.
func (d *drill) startStoreProcess(ctx context.Context, dir string) (*process, *webStore, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	folder, err := d.folder("tls")
	if err != nil {
		return nil, nil, err
	}
	authority := filepath.Join(folder, "authority.pem")
	p, err := d.processes.start([]string{storeProcess + "=" + dir, storeCertificate + "=" + authority}, nil, self)
	if err != nil {
		return nil, nil, err
	}
	err = waitFor(ctx, "the process that serves the store", func() bool {
		return !p.alive() || strings.HasSuffix(p.log.String(), "\n")
	})
	address, ok := strings.CutPrefix(strings.TrimSpace(p.log.String()), "serving ")
	if err != nil || !ok {
		return nil, nil, fmt.Errorf("the process that serves the store: %w, %s", err, p.log)
	}
	return p, &webStore{
		flags: []string{"--store", address, "--allow-private-hosts"}, env: []string{"SSL_CERT_FILE=" + authority},
	}, nil
}

func (s *webStore) stop() { _ = s.server.Close() }

// selfSigned makes a certificate for 127.0.0.1, and writes it to a file for those who are to trust
// it.
func selfSigned(path string) (c tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "hdqs drill"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return c, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return c, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
