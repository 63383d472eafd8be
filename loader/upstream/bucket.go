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
	c, err := catalogfile.Parse(data)
	if err == nil {
		err = checkTree(c)
	}
	if err == nil {
		err = b.addPackages(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.at, err)
	}
	return treeListing(c, b.at.URL), nil
}

// maxListed bounds the objects that addPackages looks at, whether or not they match.
const maxListed = 10 * catalogfile.MaxFiles

// addPackages adds the objects that match the pattern of packages, which may have * in its last
// part.
func (b *bucketSource) addPackages(ctx context.Context, c *catalogfile.File) error {
	pattern := c.PackagePattern()
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
			return object.Err
		}
		if listed++; listed > maxListed || len(found) > catalogfile.MaxFiles {
			return fmt.Errorf("the folder of packages %q has more than %d objects, or %d that match",
				pattern, maxListed, catalogfile.MaxFiles)
		}
		name := strings.TrimPrefix(object.Key, root)
		fits, err := path.Match(pattern, name)
		if err != nil {
			return fmt.Errorf("catalog.json: packages %q: %w", pattern, err)
		}
		if fits && fs.ValidPath(name) {
			found = append(found, name)
		}
	}
	return c.AddPackages(found)
}
