// Package web has the files that the pages for people are made of: templates, and what browsers
// load, such as the style sheet. Files of other projects are in npm; vendor.lock says which, and
// "make vendor" fetches them.
package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Templates are the templates of pages.
//
//go:embed *.html
var Templates embed.FS

//go:embed static npm
var files embed.FS

// Asset is a file that browsers load. Its path has a digest of the content, so caches may keep it
// for ever: another content has another path.
type Asset struct {
	Name string // such as style.css
	Path string // such as /static/style.0123456789abcdef.css
	Type string // media type
	Body []byte
}

// mediaTypes are the types of assets. Other files are not served.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".ico": "image/x-icon",
	".js":  "text/javascript; charset=utf-8",
}

// Assets are all assets.
var Assets = assets()

var byName = func() map[string]*Asset {
	all := make(map[string]*Asset, len(Assets))
	for i := range Assets {
		if all[Assets[i].Name] != nil {
			panic("two assets have the name " + Assets[i].Name)
		}
		all[Assets[i].Name] = &Assets[i]
	}
	return all
}()

// Named returns the asset of that name. There must be one.
func Named(name string) *Asset {
	a := byName[name]
	if a == nil {
		panic("there is no asset " + name)
	}
	return a
}

// Path returns the path of the asset of that name.
func Path(name string) (string, error) {
	if a := byName[name]; a != nil {
		return a.Path, nil
	}
	return "", fmt.Errorf("web: there is no asset %q", name)
}

func assets() []Asset {
	var all []Asset
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		extension := path.Ext(name)
		if err != nil || d.IsDir() || mediaTypes[extension] == "" {
			return err
		}
		body, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		base := path.Base(name)
		all = append(all, Asset{
			Name: base,
			Path: "/static/" + strings.TrimSuffix(base, extension) + "." + hex.EncodeToString(sum[:8]) + extension,
			Type: mediaTypes[extension],
			Body: body,
		})
		return nil
	})
	if err != nil {
		panic(err)
	}
	return all
}
