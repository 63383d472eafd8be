package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/pflag"

	"hdqs/api/accesslog"
)

type accessLogFlags struct {
	path, keyFile string
	share         float64
}

func (f *accessLogFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.path, "access-log", "",
		"file to which a line of JSON is appended for each request; - is stdout; SIGHUP opens it again")
	fl.Float64Var(&f.share, "access-log-sample", 1,
		"share of the successful requests that are logged, 0 to 1")
	fl.StringVar(&f.keyFile, "access-log-key-file", "",
		fmt.Sprintf("file with the key of hashes of applications, at least %d bytes; empty: a new key at each start",
			accesslog.MinKey))
}

func (f *accessLogFlags) options(log *slog.Logger) (o accesslog.Options, err error) {
	if f.share < 0 || f.share > 1 || f.share != f.share {
		return o, usagef("--access-log-sample %v: want 0 to 1", f.share)
	}
	if _, err := os.Stat(filepath.Dir(f.path)); err != nil {
		return o, usagef("--access-log %s: %w", f.path, err)
	} else if at, err := os.Stat(f.path); err == nil && at.IsDir() {
		return o, usagef("--access-log %s: want a file, this is a folder", f.path)
	}
	o = accesslog.Options{Path: f.path, Share: f.share, Logger: log}
	if f.path == "" || f.keyFile == "" {
		return o, nil
	}
	key, err := os.ReadFile(f.keyFile)
	if err != nil {
		return o, usagef("--access-log-key-file: %w", err)
	}
	if o.Key = bytes.TrimSpace(key); len(o.Key) < accesslog.MinKey {
		return o, usagef("--access-log-key-file %s: %d bytes, want at least %d",
			f.keyFile, len(o.Key), accesslog.MinKey)
	}
	return o, nil
}

func (f *accessLogFlags) open(log *slog.Logger) (*accesslog.Log, error) {
	o, err := f.options(log)
	if err != nil || f.path == "" {
		return nil, err
	}
	l, err := accesslog.Open(o)
	if err != nil {
		return nil, usagef("--access-log: %w", err)
	}
	if o.Key == nil {
		log.Info("the access log hashes applications with a random key; --access-log-key-file sets a lasting one")
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			l.Reopen()
		}
	}()
	return l, nil
}
