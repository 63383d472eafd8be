package upstream

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"

	"hdqs/internal/bucket"
	"hdqs/internal/fetch"
	"hdqs/loader/catalogfile"
)

// bucketSource is a tree in an S3-compatible store.
type bucketSource struct {
	listsAll
	remote
	at *bucket.Location
}

func openBucket(o Options) (source, error) {
	at, err := bucket.Open(o.Source)
	if err != nil {
		return nil, err
	}
	o.Fetch.Transport, o.Fetch.Parallel = at, downloads
	return &bucketSource{remote: remote{fetch.New(o.Fetch)}, at: at}, nil
}

func (b *bucketSource) kind() string { return "s3" }

func (b *bucketSource) counts() fetch.Counts {
	c := b.at.Counts()
	return fetch.Counts{Requests: c.Requests, Retries: b.client.Counts().Retries, Bytes: c.Received}
}

func (b *bucketSource) list(ctx context.Context) (*listing, error) {
	data, _, err := b.client.Read(ctx, fetch.Request{URL: b.at.URL(catalogfile.Name)}, catalogfile.MaxBytes)
	if err != nil {
		return nil, err
	}
	c, err := parseTree(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	found, err := b.glob(ctx, c.PackagePattern())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	if err := c.AddPackages(found); err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	return treeListing(c, b.at.URL), nil
}

// maxListed bounds the objects that glob looks at, whether or not they match.
const maxListed = 10 * catalogfile.MaxFiles

// glob lists the objects that match a pattern, which may have * in its last part.
func (b *bucketSource) glob(ctx context.Context, pattern string) ([]string, error) {
	ctx, cancel := context.WithCancel(ctx) // stops the client's listing when it is left early
	defer cancel()
	root := b.at.Key("")
	if root != "" {
		root += "/"
	}
	var found []string
	listed := 0
	for object := range b.at.Client.ListObjects(ctx, b.at.Bucket,
		minio.ListObjectsOptions{Prefix: b.at.Key(path.Dir(pattern)) + "/"}) {
		if object.Err != nil {
			return nil, object.Err
		}
		if listed++; listed > maxListed || len(found) > catalogfile.MaxFiles {
			return nil, fmt.Errorf("the folder of packages %q has more than %d objects, or %d that match",
				pattern, maxListed, catalogfile.MaxFiles)
		}
		name := strings.TrimPrefix(object.Key, root)
		fits, err := path.Match(pattern, name)
		if err != nil {
			return nil, fmt.Errorf("catalog.json: packages %q: %w", pattern, err)
		}
		if fits && fs.ValidPath(name) {
			found = append(found, name)
		}
	}
	return found, nil
}
