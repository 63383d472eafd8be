package fetch

import (
	"testing"

	"hdqs/internal/objects/objectstest"
)

func TestMain(m *testing.M) { objectstest.Main(m) }

// TestObjects runs the suite with a bucket that is read without keys, as a web server.
func TestObjects(t *testing.T) {
	t.Parallel()
	objectstest.Run(t, func(t *testing.T) objectstest.Kind {
		b := objectstest.NewBucket(t.Name())
		client := New(testOptions())
		return objectstest.Kind{Store: client.Below(b.Web()), Write: b.Write, Bucket: b, ReadOnly: true}
	})
}
