package files_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"hdqs/api/apitest"
	"hdqs/api/state"
	"hdqs/bulk"
	"hdqs/internal/testkit"
)

// TestBulkDamaged: bytes that do not have the digest in the entity tag are never sent: not those of
// a file that was damaged before it was opened, and not those of one that changes later. A file
// that was put back is served again.
func TestBulkDamaged(t *testing.T) {
	t.Parallel()
	long := time.Now().Add(-time.Hour)
	overwrite := func(t *testing.T, path string, data []byte) { testkit.WriteFile(t, path, data) }
	replace := func(t *testing.T, path string, data []byte) { testkit.ReplaceFile(t, path, data) }
	unseen := func(t *testing.T, path string, data []byte) { // as a disk that changes bits
		t.Helper()
		info := testkit.Value(os.Stat(path))(t)
		testkit.WriteFile(t, path, data)
		testkit.Must(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
	}
	flip := func(data []byte) []byte {
		data = slices.Clone(data)
		data[len(data)/2] ^= 1
		return data
	}
	cut := func(data []byte) []byte { return data[:len(data)-1] }
	type change = func(*testing.T, string, []byte)
	for _, c := range []struct {
		name    string
		early   bool // before the file is opened
		damage  func([]byte) []byte
		by      change
		restore change
	}{
		{"flipped before it is opened", true, flip, unseen, replace},
		{"replaced before it is opened", true, flip, replace, replace},
		{"opened and overwritten", false, flip, overwrite, replace},
		{"opened, overwritten and written again", false, flip, overwrite, overwrite},
		{"opened and cut", false, cut, overwrite, replace},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, b := apitest.Sample(t, state.Options{Bulk: true}, 3), apitest.NewBulkDir(t)
			b.Put(t, apitest.SampleID, rand.New(rand.NewPCG(1, 17)))
			good := b.Files[apitest.SampleID+"/"+apitest.BulkTable]
			sum := sha256.Sum256(good)
			path := b.Path(
				&bulk.File{Path: apitest.BulkTable, Format: bulk.Parquet, SHA256: hex.EncodeToString(sum[:])})
			testkit.Must(t, os.Chtimes(path, long, long))
			if c.early {
				c.by(t, path, c.damage(good))
			}
			testkit.Must(t, s.Files.LookForBulk(b.Bulk))
			target := "/bulk/" + apitest.SampleID + "/" + apitest.BulkTable
			address := apitest.Listen(t, s)
			get := func(what string, status int) {
				t.Helper()
				got := apitest.Ask(t, address, "GET", target, nil)
				part := apitest.Ask(t, address, "GET", target, apitest.Fields("Range", "bytes=0-9"))
				head := apitest.Ask(t, address, "HEAD", target, nil)
				switch {
				case status == 200 && got.Status == 200 && bytes.Equal(got.Body, good) && part.Status == 206:
				case status == 503 && got.Status == 503 && part.Status == 503 && head.Status == 503 &&
					apitest.Header(got, "Etag") == "" && apitest.Header(got, "Cache-Control") == "no-store":
				default:
					t.Errorf("%s: %d, part %d, HEAD %d with %d bytes, want %d: %v", what, got.Status, part.Status,
						head.Status, len(got.Body), status, got.Header)
				}
			}
			if !c.early {
				get("before", 200)
				c.by(t, path, c.damage(good))
			}
			get("damaged", 503)
			if err := s.Files.LookForBulk(b.Bulk); err == nil {
				t.Error("a look reports nothing")
			}
			get("after a look", 503)
			if other := apitest.Ask(t, address, "GET", sampleBulk+apitest.BulkText, nil); other.Status != 200 {
				t.Errorf("another file: %d", other.Status)
			}
			c.restore(t, path, good)
			get("put back", 200)
		})
	}
}

func TestMain(m *testing.M) { apitest.Main(m) }
