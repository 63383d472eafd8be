package loader

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

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

// sameForm reports whether a resource is as it was.
func (s resourceState) sameForm(o resourceState) bool {
	return s.LastModified == o.LastModified && s.Size == o.Size && s.Rows == o.Rows && s.Sum == o.Sum
}

func sumText(sum uint64) string { return fmt.Sprintf("%016x", sum) }

func (u useState) sum() uint64 {
	sum, _ := strconv.ParseUint(u.Sum, 16, 64)
	return sum
}

// stateText is the state as the manifest keeps it.
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
	if program == "" || p.opts.StrictResources || len(r.report.Refused)+len(p.broken) > 0 {
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
	files := p.catalog.files[th.role]
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
