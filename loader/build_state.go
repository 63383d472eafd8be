package loader

import (
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
	"sync"
	"time"
)

// loadState is what a load remembers for the next one, kept in the manifest.
type loadState struct {
	Joins     string                   `json:"joins,omitempty"`
	Roles     map[string]roleState     `json:"roles,omitempty"`
	Resources map[string]resourceState `json:"resources"`
	Stale     []Stale                  `json:"stale,omitempty"`
}

// resourceState tells the form in which a resource was read, and when it was first read in that form.
type resourceState struct {
	LastModified string    `json:"last_modified,omitempty"`
	Size         string    `json:"size,omitempty"`
	Rows         int       `json:"rows"`
	Sum          string    `json:"sum"`
	Since        time.Time `json:"since"`
}

// roleState tells what a data table was made of. Without files it only tells which resources its rows name.
type roleState struct {
	Files      []fileState   `json:"files,omitempty"`
	Uses       []useState    `json:"uses"`
	Duplicates duplicateRows `json:"duplicates"`
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

// maxRemembered bounds what a manifest remembers; a catalog with more resources is read anew each time.
const maxRemembered = 100_000

// sameForm tells whether a resource is as it was.
func (s resourceState) sameForm(o resourceState) bool {
	return s.LastModified == o.LastModified && s.Size == o.Size && s.Rows == o.Rows && s.Sum == o.Sum
}

func sumText(sum uint64) string { return fmt.Sprintf("%016x", sum) }

func (u useState) sum() uint64 {
	sum, _ := strconv.ParseUint(u.Sum, 16, 64)
	return sum
}

// readCurrent finds the snapshot that the channel points to, for what it remembers. One that cannot be read is as good as none:
// this load replaces it.
func (l *load) readCurrent() error {
	pointer, err := l.opts.Store.Channel(l.opts.Channel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		l.current, err = l.opts.Store.Manifest(pointer.ID)
	}
	if err == nil && len(l.current.State) > 0 {
		err = json.Unmarshal(l.current.State, &l.before)
	}
	if err != nil {
		l.current, l.before = nil, loadState{}
		l.report.Notes = append(l.report.Notes, fmt.Sprintf("the current snapshot of %s cannot be read and is not compared with: %v", l.opts.Channel, err))
	}
	return nil
}

// stateText is the state as the manifest keeps it.
func (l *load) stateText() (json.RawMessage, error) {
	n := len(l.state.Resources)
	for _, r := range l.state.Roles {
		n += len(r.Uses)
	}
	if n > maxRemembered {
		l.report.Notes = append(l.report.Notes, fmt.Sprintf("%d resources are too many to remember; the next load reads everything anew", n))
		return nil, nil
	}
	return json.Marshal(l.state)
}

// programSum tells one build of this program from another: a table that another one made is not reused.
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

// settleJoins sums up all that a data table depends on beside its own files: the lists, the resource of the national risk index, the program.
// Empty means that nothing can be reused.
func (l *load) settleJoins() {
	program := programSum()
	if program == "" || l.opts.StrictResources || len(l.report.Refused)+len(l.broken) > 0 {
		return
	}
	h := sha256.New()
	fmt.Fprintln(h, program)
	if r := l.packages.riskResource(); r != nil {
		fmt.Fprintln(h, l.packages.risk.ID, r.ID)
	}
	// Lists are read one after the other, so their reports stand in one order.
	for _, r := range l.report.Resources {
		fmt.Fprintln(h, r.Role, r.SHA256)
	}
	l.state.Joins = hex.EncodeToString(h.Sum(nil))
}

// remember keeps what a table was made of. A role with a refused file is read again next time.
func (l *load) remember(src *source, out *roleRows, uses []useState, found duplicateRows) {
	s := roleState{Uses: uses, Duplicates: found}
	if len(out.refused) == 0 {
		for _, r := range out.resources {
			i := slices.IndexFunc(l.catalog.files[src.role], func(f resourceFile) bool { return f.path == r.Path })
			timeless := *r
			timeless.Seconds = 0 // equal loads have equal manifests
			s.Files = append(s.Files, fileState{
				Path: r.Path, ID: l.catalog.files[src.role][i].id, Size: r.Bytes, SHA256: r.SHA256, Report: &timeless,
			})
		}
	}
	l.mu.Lock()
	l.state.Roles[src.role] = s
	l.mu.Unlock()
}
