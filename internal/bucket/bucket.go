// Package bucket opens S3-compatible stores by address: s3://bucket/prefix, with the endpoint, the region and the credentials in the
// environment variables that every such tool reads.
package bucket

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Location is a prefix in a bucket and the client that reaches it.
type Location struct {
	Client *minio.Client
	Bucket string
	Prefix string

	traffic *traffic
}

// tries is how often a request is sent before its failure is reported, with a wait of up to a second between two.
const tries = 4

// Open reads an address. AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL name another service than AWS; the region is AWS_REGION or
// AWS_DEFAULT_REGION; credentials are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, then the shared credentials file, then
// the role of the machine. Without any of them requests are not signed, which public buckets allow.
func Open(address string) (*Location, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return nil, fmt.Errorf("%q is not an address like s3://bucket/prefix", address)
	}
	endpoint, secure := "s3.amazonaws.com", true
	for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
		if value := os.Getenv(name); value != "" {
			e, err := url.Parse(value)
			if err != nil || e.Host == "" || e.Scheme != "http" && e.Scheme != "https" {
				return nil, fmt.Errorf("%s=%q is not an http or https address", name, value)
			}
			endpoint, secure = e.Host, e.Scheme == "https"
			break
		}
	}
	region := os.Getenv("AWS_REGION")
	if region == "" {
		region = os.Getenv("AWS_DEFAULT_REGION")
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	transport.ResponseHeaderTimeout = stall
	counted := &traffic{next: transport, stall: stall}
	client, err := minio.New(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure: secure, Region: region, Transport: counted, MaxRetries: tries,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return &Location{Client: client, Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), traffic: counted}, nil
}

// Key is the object name of a path below the prefix.
func (l *Location) Key(name string) string { return path.Join(l.Prefix, name) }

// String is the address.
func (l *Location) String() string { return "s3://" + path.Join(l.Bucket, l.Prefix) }
