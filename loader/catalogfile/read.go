package catalogfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
)

// Open opens a regular file. Anything else is refused before it is opened: opening a named pipe
// would wait for a writer.
func Open(fsys fs.FS, path string) (fs.File, fs.FileInfo, error) {
	info, err := fs.Stat(fsys, path)
	if err != nil {
		return nil, nil, err
	}
	if err := checkRegular(path, info); err != nil {
		return nil, nil, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil { // it may have been replaced
		err = checkRegular(path, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func checkRegular(path string, info fs.FileInfo) error {
	kinds := map[fs.FileMode]string{fs.ModeDir: "folder", fs.ModeNamedPipe: "named pipe", fs.ModeSocket: "socket"}
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s: not a regular file but a %s", path, cmp.Or(kinds[info.Mode().Type()], "device"))
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(fsys fs.FS, path string, limit int64) ([]byte, error) {
	f, info, err := Open(fsys, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes, at most %d are read", path, info.Size(), limit)
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead) // so that it does not grow while it is read
	if _, err := data.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if int64(data.Len()) > limit {
		return nil, fmt.Errorf("%s: more than %d bytes", path, limit)
	}
	return data.Bytes(), nil
}

// ReadCatalog reads catalog.json. It is empty when there is none.
func ReadCatalog(fsys fs.FS) (*File, error) {
	data, err := ReadFile(fsys, Name, MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := Parse(data)
	if err == nil && f.Format != 0 && f.Format != Format {
		err = fmt.Errorf("%s: format %d, this program reads format %d", Name, f.Format, Format)
	}
	return f, err
}

// Find reads the catalog.json of a tree and adds the files that it does not list: its packages, and
// when it lists no file at all, those in the folders of the roles. others lists what those
// folders have that no role uses; names of folders end in a slash.
func Find(fsys fs.FS, isDataRole func(string) bool) (f *File, others []string, err error) {
	if f, err = ReadCatalog(fsys); err != nil {
		return nil, nil, err
	}
	if len(f.Resources) == 0 {
		if others, err = f.addFolders(fsys, isDataRole); err != nil {
			return nil, nil, err
		}
	}
	folder := path.Dir(f.PackagePattern()) // which Glob takes for empty if it cannot be read
	if _, err := fs.Stat(fsys, folder); err != nil && !errors.Is(err, fs.ErrNotExist) && fs.ValidPath(folder) {
		return nil, nil, fmt.Errorf("%s: packages: %w", Name, err)
	}
	packages, err := fs.Glob(fsys, f.PackagePattern())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: packages %q: %w", Name, f.Packages, err)
	}
	return f, others, f.AddPackages(packages)
}

// addFolders adds the files of a tree that lists none.
func (f *File) addFolders(fsys fs.FS, isDataRole func(string) bool) (others []string, err error) {
	folders, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		role := folder.Name()
		switch {
		case role == Name, role == packageFolder, strings.HasPrefix(role, "."):
			continue
		case role != ReferenceFolder && !isDataRole(role):
			others = append(others, stranger(fsys, folder))
			continue
		}
		files, err := fs.ReadDir(fsys, role)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			e := Entry{Role: role, Path: path.Join(role, file.Name())}
			name, isCSV := strings.CutSuffix(strings.ToLower(TrimCompression(file.Name())), ".csv")
			if role == ReferenceFolder {
				e.Role = name
			}
			switch {
			case strings.HasPrefix(name, "."):
			case file.IsDir():
				others = append(others, e.Path+"/")
			case !isCSV && !(role == RiskRole && IsWorkbook(file.Name())),
				role == ReferenceFolder && !IsReference(name):
				others = append(others, e.Path)
			default:
				f.Resources = append(f.Resources, e)
			}
		}
	}
	return others, nil
}

// stranger names a file or folder at the root that is that of no role. The name ends in a slash if
// it is a folder with tables.
func stranger(fsys fs.FS, found fs.DirEntry) string {
	files, _ := fs.ReadDir(fsys, found.Name()) // none of a file
	if slices.ContainsFunc(files, func(file fs.DirEntry) bool { return IsTable(file.Name()) }) {
		return found.Name() + "/"
	}
	return found.Name()
}

// DecodeList decodes a JSON array one element at a time. An element of a few bytes may decode into
// hundreds, so a list of more than limit elements is refused when that many have been decoded; what
// and unit name it in the error, such as "catalog.json lists" and "files". null is an empty list.
func DecodeList[T any](data []byte, limit int, what, unit string) ([]T, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	first, err := d.Token()
	if err != nil || first == nil {
		return nil, err
	}
	if first != json.Delim('[') {
		return nil, &json.UnmarshalTypeError{Value: fmt.Sprintf("%.40q", data), Type: reflect.TypeFor[[]T]()}
	}
	var list []T
	for d.More() {
		if len(list) == limit {
			return nil, &TooManyError{what, limit, unit}
		}
		var element T
		if err := d.Decode(&element); err != nil {
			return nil, err
		}
		list = append(list, element)
	}
	if _, err := d.Token(); err != nil { // the end of the list
		return nil, err
	}
	return list, checkEnd(d)
}

// decodeStrict decodes an object all of whose keys are fields of to.
func decodeStrict(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	return checkEnd(d)
}

func checkEnd(d *json.Decoder) error {
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("text after the end")
	}
	return nil
}

// TooManyError is a list that has more elements than are read.
type TooManyError struct {
	What  string // with a verb, such as "catalog.json lists"
	Limit int
	Unit  string
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%s more than %d %s, which is the most that are read", e.What, e.Limit, e.Unit)
}
