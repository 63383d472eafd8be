package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The user of the container has no name and no rights. Its one folder is a volume, since the rest
// of the image may be read-only: snapshots that are downloaded, and the sample.
const (
	imageUser   = 65532
	imageFolder = "/var/lib/hdqs"
)

type object = map[string]any

// image returns a container image as a file that `docker load`, `podman load` and tools for the OCI
// layout read: the binary, and the certificates of public authorities, without which it could read
// no store over https.
func (r *release) image() ([]byte, error) {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a file of certificates cannot say what else one is limited to
			if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
				return nil, err
			}
		}
	}
	layer, err := tarball([]entry{
		{"etc/", 0o755, 0, nil},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, roots.Bytes()},
		{"usr/", 0o755, 0, nil},
		{"usr/bin/", 0o755, 0, nil},
		{"usr/bin/hdqs", 0o755, 0, r.binary},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{imageFolder[1:] + "/", 0o755, imageUser, nil},
	}, r.made)
	if err != nil {
		return nil, err
	}
	packed := compressed(layer)
	created := r.made.Format(time.RFC3339)
	config := asJSON(object{
		"created": created, "os": r.system, "architecture": r.machine,
		"config": object{
			"User":       fmt.Sprintf("%d:%d", imageUser, imageUser),
			"Entrypoint": []string{"/usr/bin/hdqs"}, "Cmd": []string{"serve"},
			"Env": []string{
				"HDQS_LISTEN=0.0.0.0:8080", "HDQS_DATA_DIR=" + imageFolder, "TMPDIR=" + imageFolder,
			},
			"ExposedPorts": object{"8080/tcp": object{}}, "Volumes": object{imageFolder: object{}},
			"WorkingDir": imageFolder, "StopSignal": "SIGTERM",
			"Labels": object{
				"org.opencontainers.image.title":    "hdqs",
				"org.opencontainers.image.version":  r.version,
				"org.opencontainers.image.revision": r.commit,
				"org.opencontainers.image.created":  created,
				"org.opencontainers.image.licenses": "MIT",
			},
		},
		"rootfs":  object{"type": "layers", "diff_ids": []string{digest(layer)}},
		"history": []object{{"created": created, "created_by": "make release"}},
	})
	const kind = "application/vnd.oci.image."
	manifest := asJSON(object{
		"schemaVersion": 2, "mediaType": kind + "manifest.v1+json",
		"config": descriptor(kind+"config.v1+json", config),
		"layers": []object{descriptor(kind+"layer.v1.tar+gzip", packed)},
	})
	listed := descriptor(kind+"manifest.v1+json", manifest)
	listed["platform"] = object{"os": r.system, "architecture": r.machine}
	tag := strings.ReplaceAll(r.version, "+", "-") // which tags of images may not have
	name := "hdqs:" + tag
	listed["annotations"] = object{
		"io.containerd.image.name": "docker.io/library/" + name, "org.opencontainers.image.ref.name": tag,
	}
	index := asJSON(object{
		"schemaVersion": 2, "mediaType": kind + "index.v1+json", "manifests": []object{listed},
	})
	legacy := asJSON([]object{{
		"Config": blob(config), "RepoTags": []string{name}, "Layers": []string{blob(packed)},
	}})
	return tarball([]entry{
		{"blobs/", 0o755, 0, nil},
		{"blobs/sha256/", 0o755, 0, nil},
		{blob(config), 0o644, 0, config},
		{blob(manifest), 0o644, 0, manifest},
		{blob(packed), 0o644, 0, packed},
		{"index.json", 0o644, 0, index},
		{"manifest.json", 0o644, 0, legacy},
		{"oci-layout", 0o644, 0, asJSON(object{"imageLayoutVersion": "1.0.0"})},
	}, r.made)
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

func blob(data []byte) string { return fmt.Sprintf("blobs/sha256/%x", sha256.Sum256(data)) }

func descriptor(kind string, data []byte) object {
	return object{"mediaType": kind, "digest": digest(data), "size": len(data)}
}

func asJSON(v any) []byte {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		panic(err) // texts and numbers only
	}
	return append(data, '\n')
}
