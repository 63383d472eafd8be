package main

import (
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// modules returns what `go version -m` prints of a binary, the standard library first.
func (r *release) modules(binary string) ([]debug.Module, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	all := []debug.Module{{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}}
	for _, m := range info.Deps {
		all = append(all, *cmp.Or(m.Replace, m))
	}
	return all, nil
}

// packageURL is the name of a module in databases of vulnerabilities.
func packageURL(m debug.Module) string { return "pkg:golang/" + m.Path + "@" + m.Version }

func (r *release) spdx(modules []debug.Module) []byte {
	const none, program = "NOASSERTION", "SPDXRef-hdqs"
	describe := func(id, name, version, url, licence string) object {
		return object{
			"SPDXID": id, "name": name, "versionInfo": version, "downloadLocation": none, "filesAnalyzed": false,
			"licenseConcluded": none, "licenseDeclared": licence, "copyrightText": none,
			"externalRefs": []object{{
				"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url,
			}},
		}
	}
	main := describe(program, "hdqs", r.version, "pkg:golang/hdqs@"+r.version, "MIT")
	sum := fmt.Sprintf("%x", sha256.Sum256(r.binary))
	main["checksums"] = []object{{"algorithm": "SHA256", "checksumValue": sum}}
	packages := []object{main}
	relations := []object{{
		"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": program,
	}}
	for i, m := range modules {
		id := fmt.Sprintf("SPDXRef-module-%d", i)
		packages = append(packages, describe(id, m.Path, m.Version, packageURL(m), none))
		relations = append(relations, object{
			"spdxElementId": program, "relationshipType": "DEPENDS_ON", "relatedSpdxElement": id,
		})
	}
	name := fmt.Sprintf("hdqs-%s-%s-%s", r.version, r.system, r.machine)
	return asJSON(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
		"documentNamespace": "https://spdx.org/spdxdocs/" + name + "-" + sum,
		"creationInfo": object{
			"created": r.made.Format(time.RFC3339), "creators": []string{"Tool: hdqs-release-" + r.version},
		},
		"packages": packages, "relationships": relations,
	})
}

func (r *release) cycloneDX(modules []debug.Module) []byte {
	const ref = "hdqs"
	var components []object
	var uses []string
	for _, m := range modules {
		url := packageURL(m)
		components = append(components, object{
			"bom-ref": url, "type": "library", "name": m.Path, "version": m.Version, "purl": url,
		})
		uses = append(uses, url)
	}
	return asJSON(object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata": object{
			"timestamp": r.made.Format(time.RFC3339),
			"component": object{
				"bom-ref": ref, "type": "application", "name": "hdqs", "version": r.version,
				"purl":     "pkg:golang/hdqs@" + r.version,
				"hashes":   []object{{"alg": "SHA-256", "content": fmt.Sprintf("%x", sha256.Sum256(r.binary))}},
				"licenses": []object{{"license": object{"id": "MIT"}}},
			},
		},
		"components":   components,
		"dependencies": []object{{"ref": ref, "dependsOn": uses}},
	})
}
