package loader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// reuse keeps the table of a role whose files, and all that they are joined with, are those that it
// was made from.
func (p *pass) reuse(ctx context.Context, th *theme) (kept bool, err error) {
	was, files := p.load.previous.state.Roles[th.role], p.load.catalog.files[th.role]
	old, ok := p.load.previous.table(th.table.name)
	joins := p.result.state.Joins
	if !ok || joins == "" || joins != p.load.previous.state.Joins || len(was.Files) == 0 || was.Kept ||
		len(was.Files) != len(files) {
		return false, nil
	}
	for i, f := range files {
		same, err := p.load.sameFile(ctx, f, was.Files[i])
		if !same || err != nil {
			return false, err
		}
	}
	entries, err := p.load.previous.available(th.table.name)
	if err != nil {
		return false, nil // a damaged store must not stop the load that repairs it
	}
	r := p.result
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range was.Files {
		report := *f.Report
		report.Reused = true
		r.report.Resources = append(r.report.Resources, &report)
	}
	r.keepTheme(th, old, entries, was)
	return true, nil
}

// sameFile reports whether a file has the bytes that it had. One that cannot be read has not:
// reading it again will show why.
func (s *scanner) sameFile(ctx context.Context, f resourceFile, was fileState) (bool, error) {
	info, err := fs.Stat(s.catalog.holder(f), f.path)
	if err != nil || f.path != was.Path || f.id != was.ID || info.Size() != was.Size {
		return false, ctx.Err()
	}
	if s.verified && f.sha256 != "" && !f.embedded {
		return f.sha256 == was.SHA256, ctx.Err()
	}
	from, err := s.catalog.openFile(f)
	if err != nil {
		return false, ctx.Err()
	}
	defer from.close()
	sum, err := from.finish() // reads it to its end
	s.progress.move(from)
	return err == nil && sum == was.SHA256, ctx.Err()
}

// programSum identifies this build of the program: a table that another build made is not reused.
var programSum = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
})

// sumJoins sums up what a data table depends on beside its own files: the lists, the resource of
// the national risk index, the program. An empty sum means that no table can be reused.
func (p *pass) sumJoins() {
	r := p.result
	program := programSum()
	if program == "" || p.load.opts.StrictResources || len(r.report.Refused)+len(p.broken) > 0 {
		return
	}
	h := sha256.New()
	fmt.Fprintln(h, program)
	if risk := p.refs.packages.riskResource(); risk != nil {
		fmt.Fprintln(h, p.refs.packages.risk.ID, risk.ID)
	}
	for _, f := range r.report.Resources { // in a fixed order, as lists are read one after the other
		fmt.Fprintln(h, f.Role, f.SHA256)
	}
	r.state.Joins = hex.EncodeToString(h.Sum(nil))
}

func filesOf(reports []*ResourceReport) (files []fileState) {
	for _, r := range reports {
		timeless := *r
		timeless.Seconds = 0 // equal loads have equal manifests
		files = append(files, fileState{Path: r.Path, ID: r.id, Size: r.Bytes, SHA256: r.SHA256, Report: &timeless})
	}
	return files
}

// remember keeps what a table was made from. A role with a refused file is read again by the next
// load.
func (p *pass) remember(th *theme, out *roleRows, uses []useState) {
	s := roleState{Uses: uses, Kept: len(out.refused) > 0, Files: filesOf(out.resources)}
	p.result.mu.Lock()
	defer p.result.mu.Unlock()
	for _, t := range p.result.report.Tables {
		if t.Table == th.table.name {
			s.tableCounts = t.tableCounts
		}
	}
	p.result.state.Roles[th.role] = s
}
