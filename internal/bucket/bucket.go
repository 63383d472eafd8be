// Package bucket opens S3-compatible buckets by address, such as s3://bucket/prefix, as an
// objects.Store. The endpoint, the region and the credentials come from the usual environment
// variables.
package bucket

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"hdqs/internal/fetch"
	"hdqs/internal/objects"
)

// Location is a prefix in a bucket as an objects.Store. A fetch.Client reads it: RoundTrip answers
// its requests.
type Location struct {
	*fetch.Objects
	client         *minio.Client
	bucket, prefix string
	meter          *fetch.Meter
}

// tries is how often a request is sent before it fails, with a wait of up to a second before each
// retry.
const tries = 4

// stall is how long a service may take to begin a response, and for each part of its body.
const stall = 30 * time.Second

// Open parses an address. AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL select another service than AWS.
// The region is AWS_REGION or AWS_DEFAULT_REGION. Credentials are taken from AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, else from the shared credentials file, else from the
// role of the machine. Without credentials requests are not signed, which public buckets allow.
// The options are those of downloads.
func Open(address string, o fetch.Options) (*Location, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, fmt.Errorf("bucket address %q: want s3://bucket/prefix", address)
	}
	endpoint, secure := "s3.amazonaws.com", true
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if value := os.Getenv(name); value != "" {
			e, err := url.Parse(value)
			if err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
				return nil, fmt.Errorf("%s=%q: want an http:// or https:// address", name, value)
			}
			endpoint, secure = e.Host, e.Scheme == "https"
			break
		}
	}
	region := cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	transport.ResponseHeaderTimeout = stall
	meter := &fetch.Meter{Next: transport, Stall: stall, MinRate: cmp.Or(o.MinRate, fetch.MinRate)}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure: secure, Region: region, Transport: meter, MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	l := &Location{client: client, bucket: u.Host, prefix: strings.Trim(u.Path, "/"), meter: meter}
	o.Transport = l
	base := url.URL{Scheme: "s3", Host: l.bucket, Path: l.prefix}
	l.Objects = fetch.New(o).Below(base.String())
	return l, nil
}

// Traffic implements objects.Store.
func (l *Location) Traffic() objects.Traffic {
	t := l.meter.Traffic()
	t.Retries = l.Objects.Traffic().Retries
	return t
}

// key returns the object name of a path below the prefix.
func (l *Location) key(name string) string { return path.Join(l.prefix, name) }

// String returns the address.
func (l *Location) String() string { return "s3://" + path.Join(l.bucket, l.prefix) }
