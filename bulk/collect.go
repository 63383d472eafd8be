package bulk

import (
	"context"
	"fmt"
	"path"
	"strings"

	"hdqs/internal/objects"
	"hdqs/snapshot/store"
)

// Collected is what a collection removed, or would have removed.
type Collected struct {
	Files int
	Bytes int64
}

// Collect removes the manifests of snapshots that the store does not have any more, and the files
// that no remaining manifest lists. It is called after store.Collect with the same options and with
// the snapshots that were removed there, which a dry run leaves. It removes nothing if it cannot
// read all that decides what remains.
func Collect(
	ctx context.Context, from objects.Store, removed []string, o store.CollectOptions,
) (*Collected, error) {
	r := store.NewRemoval(ctx, from, o)
	// Files are listed before manifests: those of one that is published in between are then in use.
	files, err := from.List(ctx, dataDir)
	if err != nil {
		return nil, err
	}
	beside, err := from.List(ctx, manifestsDir)
	if err != nil {
		return nil, err
	}
	kept, err := idsIn(ctx, from, path.Dir(store.ManifestName("any")))
	if err != nil {
		return nil, err
	}
	for _, id := range removed {
		delete(kept, id)
	}
	var gone []objects.Object
	used := map[string]bool{}
	for _, object := range beside {
		base := path.Base(object.Name)
		id, isManifest := strings.CutSuffix(base, manifestExt)
		if !isManifest {
			id = strings.TrimSuffix(base, signatureExt)
		}
		if !kept[id] && !r.Young(object) {
			gone = append(gone, object)
			continue
		}
		if !isManifest || strings.HasPrefix(base, ".") {
			continue
		}
		data, _, err := from.Read(ctx, object.Name, "", MaxManifest)
		if err != nil {
			return nil, err
		}
		m, err := ParseManifest(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", object.Name, err)
		}
		for f := range m.All {
			used[f.Name()] = true
		}
	}
	// Manifests first: if this ends early, every manifest has its files.
	if _, err := r.Remove(gone...); err != nil {
		return nil, err
	}
	n, err := r.Unused(files, func(o objects.Object) bool { return used[o.Name] })
	return &Collected{Files: n, Bytes: r.Bytes}, err
}

// SnapshotsIn returns the ids of the snapshots that have bulk files.
func SnapshotsIn(ctx context.Context, from objects.Store) (map[string]bool, error) {
	return idsIn(ctx, from, manifestsDir)
}

func idsIn(ctx context.Context, from objects.Store, folder string) (map[string]bool, error) {
	all, err := from.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, o := range all {
		if id, ok := strings.CutSuffix(path.Base(o.Name), manifestExt); ok {
			ids[id] = true
		}
	}
	return ids, nil
}
