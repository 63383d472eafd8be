package loader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hdqs/snapshot"
	"hdqs/snapshot/store"
)

// previous is the snapshot that the channel points to when a load begins. Tables that nothing has
// changed for are reused from it, and tables that cannot be made from the catalog are kept.
type previous struct {
	store    *store.Store
	manifest *store.Manifest // nil when the channel is new or its snapshot cannot be read
	state    loadState       // what the load that made it left for the next one
}

// openPrevious reads the manifest that a channel points to. On an error the result is that of a new
// channel: the load then replaces a snapshot that cannot be read.
func openPrevious(st *store.Store, channel string) (*previous, error) {
	p := &previous{store: st}
	pointer, err := st.Channels.Channel(channel)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	m, err := st.Snapshots.Manifest(pointer.ID)
	if err != nil {
		return p, err
	}
	var state loadState
	if len(m.State) > 0 {
		if err := json.Unmarshal(m.State, &state); err != nil {
			return p, err
		}
	}
	p.manifest, p.state = m, state
	return p, nil
}

func (p *previous) table(name string) (ref store.SegmentRef, ok bool) {
	if p.manifest == nil {
		return ref, false
	}
	for _, t := range p.manifest.Tables {
		if t.Table == name {
			return t, true
		}
	}
	return ref, false
}

func (p *previous) hasRows(table string) bool {
	old, ok := p.table(table)
	return ok && old.Rows > 0
}

func (p *previous) open(table string) (*snapshot.Segment, error) {
	ref, _ := p.table(table)
	path, err := p.store.Segments.SegmentPath(ref.SHA256)
	if err != nil {
		return nil, err
	}
	return snapshot.OpenSegment(path)
}

// staleSince is when a source could not be used for the first time without a break; now when that
// is this load.
func (p *previous) staleSince(role, path string, now time.Time) time.Time {
	for _, old := range p.state.Stale {
		if old.Role == role && old.Path == path {
			return old.Since
		}
	}
	return now
}

// available lists the places of a table of the snapshot.
func (p *previous) available(table string) ([]available, error) {
	data, err := p.data(table, "resource_catalog_id")
	if err != nil {
		return nil, err
	}
	return availableIn(data), nil
}

// data reads texts and numbers of a table of the snapshot: those of its groups, and the columns of
// rows that are named. Each of these columns has to be there.
func (p *previous) data(table string, columns ...string) (*snapshot.TableData, error) {
	seg, err := p.open(table)
	if err != nil {
		return nil, err
	}
	defer seg.Close()
	data := &snapshot.TableData{Name: seg.Name(), Rows: seg.Rows()}
	for _, g := range seg.Groups() {
		d := snapshot.GroupData{Name: g.Name, Tuples: g.Tuples, Codes: make([]uint32, seg.Rows())}
		g.Codes.Unpack(d.Codes, 0)
		for _, c := range seg.Columns() {
			if c.Group == g && c.Kind != snapshot.Decimal {
				d.Columns = append(d.Columns, columnDataOf(c))
			}
		}
		data.Groups = append(data.Groups, d)
	}
	for _, name := range columns {
		c, err := seg.Column(name)
		if err != nil {
			return nil, err
		}
		if c.Group == nil {
			data.Columns = append(data.Columns, columnDataOf(c))
		}
	}
	return data, nil
}

func columnDataOf(c *snapshot.Column) snapshot.ColumnData {
	d := snapshot.ColumnData{Name: c.Name, Kind: c.Kind}
	if c.Kind != snapshot.Text && c.Kind != snapshot.Enum {
		d.Ints = make([]int64, c.Len())
		c.Ints(d.Ints, 0)
		return d
	}
	d.Codes = make([]uint32, c.Len())
	c.Codes().Unpack(d.Codes, 0)
	for code := range uint32(c.Cardinality()) {
		d.Values = append(d.Values, strings.Clone(c.TextOf(code)))
	}
	for i, code := range d.Codes {
		if int(code) == c.Cardinality() {
			d.Codes[i] = snapshot.NullCode
		}
	}
	return d
}

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

// loadState is what a load leaves for the next one. It is kept in the manifest.
type loadState struct {
	Joins     string                   `json:"joins,omitempty"`
	Roles     map[string]roleState     `json:"roles,omitempty"`
	Resources map[string]resourceState `json:"resources"`
	Stale     []Stale                  `json:"stale,omitempty"`
}

// resourceState is the form in which a resource was read, and when it was first read in that form.
type resourceState struct {
	LastModified string    `json:"last_modified,omitempty"`
	Size         string    `json:"size,omitempty"`
	Rows         int       `json:"rows"`
	Sum          string    `json:"sum"`
	Since        time.Time `json:"since"`
}

// roleState is what a data table was made from. Without files it only lists the resources that its
// rows name.
type roleState struct {
	Files        []fileState    `json:"files,omitempty"`
	Kept         bool           `json:"kept,omitempty"` // not of these files with the present lists: read anew
	Uses         []useState     `json:"uses"`
	Duplicates   duplicateRows  `json:"duplicates"`
	FormulaTexts []formulaTexts `json:"formula_texts,omitempty"`
}

// fileState is one file as it was read, and what came of it.
type fileState struct {
	Path   string          `json:"path"`
	ID     string          `json:"id,omitempty"`
	Size   int64           `json:"size"`
	SHA256 string          `json:"sha256"`
	Report *ResourceReport `json:"report"`
}

// useState is a sourceUse.
type useState struct {
	Dataset  string `json:"dataset,omitempty"`
	Resource string `json:"resource"`
	Rows     int    `json:"rows"`
	Sum      string `json:"sum"`
}

// maxRemembered bounds the state in a manifest; a catalog with more resources is read anew each
// time.
const maxRemembered = 100_000

func sumText(sum uint64) string { return fmt.Sprintf("%016x", sum) }

func (u useState) sum() uint64 {
	sum, _ := strconv.ParseUint(u.Sum, 16, 64)
	return sum
}

func (r *result) stateText() (json.RawMessage, error) {
	n := len(r.state.Resources)
	for _, r := range r.state.Roles {
		n += len(r.Uses)
	}
	if n > maxRemembered {
		r.note(fmt.Sprintf("%d resources are too many to remember; the next load reads everything anew", n))
		return nil, nil
	}
	return json.Marshal(r.state)
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

// remember keeps what a table was made from. A role with a refused file is read again by the next
// load.
func (p *pass) remember(th *theme, out *roleRows, uses []useState, found duplicateRows) {
	s := roleState{Uses: uses, Duplicates: found, Kept: len(out.refused) > 0}
	files := p.load.catalog.files[th.role]
	for _, r := range out.resources {
		i := slices.IndexFunc(files, func(f resourceFile) bool { return f.path == r.Path })
		timeless := *r
		timeless.Seconds = 0 // equal loads have equal manifests
		s.Files = append(s.Files, fileState{
			Path: r.Path, ID: files[i].id, Size: r.Bytes, SHA256: r.SHA256, Report: &timeless,
		})
	}
	p.result.mu.Lock()
	defer p.result.mu.Unlock()
	for _, t := range p.result.report.Tables {
		if t.Table == th.table.name {
			s.FormulaTexts = t.FormulaTexts
		}
	}
	p.result.state.Roles[th.role] = s
}
