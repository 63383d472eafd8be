package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"hdqs/internal/fetch"
	"hdqs/internal/memory"
	"hdqs/loader"
	"hdqs/loader/upstream"
	"hdqs/snapshot/store"
)

// sourceFlags are the flags for downloading a catalog, with the options of a sync as their target.
type sourceFlags struct{ upstream.Options }

func (f *sourceFlags) register(fl *pflag.FlagSet) {
	fl.StringVar(&f.Cache, "cache", "",
		"directory for downloaded files; default: one below --data-dir")
	fl.StringSliceVar(&f.Only, "only", nil,
		"roles to download; files of others are taken from the cache")
	fl.StringSliceVar(&f.AllowShrink, "allow-shrink", nil,
		"roles that may lose files, countries or more than half of their rows, as in --allow-shrink=idps; "+
			"without a value: all roles")
	fl.Lookup("allow-shrink").NoOptDefVal = loader.AllRoles
	fl.BoolVar(&f.Offline, "offline", false, "send no request and use the cached catalog")
	fl.StringVar(&f.Location, "location-list", "",
		"file with countries for a site; default: an embedded list")
	numberVar(fl, &f.Fetch.MaxBytes, "max-download", 2<<30, 1, noLimit, "size limit of one downloaded file, in bytes")
	numberVar(fl, &f.Fetch.Total, "download-timeout", time.Hour, time.Millisecond, longestPause,
		"time limit for one file, including retries")
}

func checkRoles(flag string, roles []string, more ...string) error {
	known := append(loader.Roles(), more...)
	for _, role := range roles {
		if !slices.Contains(known, role) {
			return usagef("--%s %q: no such role; roles are %s", flag, role, strings.Join(known, ", "))
		}
	}
	return nil
}

func (f *sourceFlags) check() error {
	if err := checkRoles("only", f.Only); err != nil {
		return err
	}
	return checkRoles("allow-shrink", f.AllowShrink, loader.AllRoles)
}

func (f *sourceFlags) options(address, data string, web fetch.Options) (upstream.Options, error) {
	o := f.Options
	o.Source, o.Fetch = address, web
	o.Fetch.MaxBytes, o.Fetch.Total = f.Fetch.MaxBytes, f.Fetch.Total
	if err := f.check(); err != nil {
		return o, err
	}
	if o.Cache == "" {
		sum := sha256.Sum256([]byte(address))
		o.Cache = filepath.Join(data, "catalogs", hex.EncodeToString(sum[:8]))
	}
	if o.Location != "" {
		if _, err := os.Stat(o.Location); err != nil {
			return o, usagef("--location-list: %w", err)
		}
	}
	return o, nil
}

// sync downloads a catalog into its cache directory, which stays locked until release is called.
func (f *sourceFlags) sync(
	ctx context.Context, address, data string, web fetch.Options, messages io.Writer,
) (*upstream.Summary, func(), error) {
	o, err := f.options(address, data, web)
	if err != nil {
		return nil, nil, err
	}
	lock, err := store.LockDir(o.Cache, "load of "+address)
	if err != nil {
		return nil, nil, err
	}
	release := func() { _ = lock.Release() } // the lock ends with the process at the latest
	bar := newProgress(messages, "downloading")
	o.Progress = func(p loader.Progress) { bar.update(p.Path, p.Done, p.Total) }
	s, err := interruptible(ctx, func() (*upstream.Summary, error) { return upstream.Sync(ctx, o) })
	bar.finish()
	if err != nil {
		release()
		return nil, nil, syncError(ctx, address, err)
	}
	printSync(messages, s)
	return s, release, nil
}

// syncError sets the exit code of an error: that of an unavailable catalog, or that of a local
// failure.
func syncError(ctx context.Context, address string, err error) error {
	err = fmt.Errorf("catalog %s: %w", address, err)
	if ctx.Err() == nil && (errors.Is(err, upstream.ErrUnreachable) || errors.Is(err, fetch.ErrRefused)) {
		return exitWith(exitUpstream, err)
	}
	return err
}

// plan prints which files a load would download. It requests only the lists of the catalog.
func (f *sourceFlags) plan(
	ctx context.Context, address, data string, web fetch.Options, out io.Writer, asJSON bool,
) error {
	o, err := f.options(address, data, web)
	if err != nil {
		return err
	}
	o.DryRun = true
	s, err := upstream.Sync(ctx, o)
	if err != nil {
		return syncError(ctx, address, err)
	}
	if asJSON {
		return printJSON(out, s)
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "source\tstate\tbytes\tlast modified")
	var bytes int64
	files := 0
	for _, file := range s.Files {
		if file.State == loader.SourceNew {
			bytes += file.Bytes
			files++
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", file.Path, file.State, file.Bytes, file.LastModified)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, note := range s.Notes {
		fmt.Fprintln(out, "note:", note)
	}
	_, err = fmt.Fprintf(out, "would read %d of %d files, %s according to the catalog\n",
		files, len(s.Files), memory.Size(bytes))
	return err
}

func printSync(w io.Writer, s *upstream.Summary) {
	fmt.Fprintf(w, "catalog %s: %d files: %d new, %d unchanged, %d stale, %d refused; "+
		"%d requests, %d retries, %s in %.1f s\n",
		s.Source, len(s.Files), s.Count(loader.SourceNew), s.Count(loader.SourceUnchanged),
		s.Count(loader.SourceStale), s.Count(loader.SourceRefused),
		s.Requests, s.Retries, memory.Size(s.Bytes), s.Seconds)
	var all []loader.Reason
	for _, f := range s.Files {
		if f.State == loader.SourceStale || f.State == loader.SourceRefused {
			all = append(all, loader.Reason{What: f.State + " ", Path: f.Path + ": ", Why: f.Why})
		}
	}
	for _, line := range loader.ByReason(all) {
		fmt.Fprintln(w, " ", line)
	}
	for _, note := range s.Notes {
		fmt.Fprintln(w, "  note:", note)
	}
}
