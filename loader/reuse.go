package loader

import (
	"context"
	"io"
	"io/fs"
)

// reuse keeps the table of a role whose files, and all that they are joined with, are those that it
// was made from.
func (p *pass) reuse(ctx context.Context, th *theme) (kept bool, err error) {
	was, files := p.previous.state.Roles[th.role], p.catalog.files[th.role]
	old, ok := p.previous.table(th.table.name)
	joins := p.result.state.Joins
	if !ok || joins == "" || joins != p.previous.state.Joins || len(was.Files) == 0 || was.Kept ||
		len(was.Files) != len(files) {
		return false, nil
	}
	for i, f := range files {
		same, err := p.sameFile(ctx, f, was.Files[i])
		if !same || err != nil {
			return false, err
		}
	}
	entries, err := p.previous.available(th.table.name)
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
	buf := make([]byte, csvBuffer)
	for {
		_, err := packedBytes{from}.Read(buf)
		if err == io.EOF {
			break
		}
		if err != nil || ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	s.progress.move(from)
	sum, err := from.finish()
	return err == nil && sum == was.SHA256, nil
}
