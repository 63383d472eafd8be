package store

import (
	"fmt"
	"io/fs"
	"path"
)

// A publication may have a file of figures: what was computed of the snapshot, and what earlier
// publications of the channel had. The channel names it by its content, and so signs it. A store
// does not read what is in it, and a snapshot works without it.

// FiguresName is the name of the file of figures with a hash.
func FiguresName(hash string) string { return path.Join(figuresDir, hash+figuresExt) }

// CheckFigures checks the content of a file of figures that has a hash.
func CheckFigures(hash string, data []byte) error {
	if got := hashOf(data); got != hash {
		return corruptf("%s has the SHA-256 %s", FiguresName(hash), got)
	}
	return nil
}

// PutFigures stores a file of figures and returns its hash.
func (s *Snapshots) PutFigures(data []byte) (hash string, err error) {
	if len(data) > MaxFigures {
		return "", fmt.Errorf("figures of %d bytes, at most %d can be read again", len(data), MaxFigures)
	}
	hash = hashOf(data)
	if HasFile(s.Path(FiguresName(hash)), int64(len(data)), hash, true) {
		return hash, nil
	}
	return hash, s.PutFile(FiguresName(hash), data)
}

// Figures reads the file of figures of a publication. If it has none, or the file is missing, the
// error is fs.ErrNotExist.
func (s *Snapshots) Figures(p Pointer) ([]byte, error) {
	if p.Figures == "" {
		return nil, fs.ErrNotExist
	}
	data, err := ReadFile(s.Path(FiguresName(p.Figures)), MaxFigures)
	if err == nil {
		err = CheckFigures(p.Figures, data)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}
