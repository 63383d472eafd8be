// Package web has the files that the pages for people are made of: templates, and what browsers
// load, such as the style sheet. Files of other projects are in npm; vendor.lock says which, and
// "make vendor" fetches them.
package web

import (
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// Templates are the templates of pages, and of texts for programs.
//
//go:embed *.html *.txt *.xml *.atom
var Templates embed.FS

//go:embed static npm
var files embed.FS

// Asset is a file that browsers load. Its path has a digest of the content, so caches may keep it
// for ever: another content has another path.
type Asset struct {
	Name string // such as style.css
	Path string // such as /static/style.0123456789abcdef.css
	Type string // media type
	file string
}

// Body reads the asset.
func (a *Asset) Body() []byte {
	body, err := files.ReadFile(a.file)
	if err != nil {
		panic(err) // it was read before
	}
	return body
}

// Font reads the font of that name. There must be one. Pages have the fonts of their browser;
// pictures have these.
func Font(name string) []byte {
	for _, family := range []string{"noto-sans", "noto-sans-arabic"} {
		if body, err := files.ReadFile("npm/@fontsource/" + family + "/" + name + ".woff"); err == nil {
			return body
		}
	}
	panic("there is no font " + name)
}

// mediaTypes are the types of assets. Other files are not served.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".ico": "image/x-icon",
	".js":  "text/javascript; charset=utf-8",
}

// Assets are all assets. The first call reads them.
var Assets = sync.OnceValue(assets)

var byName = sync.OnceValue(func() map[string]*Asset {
	assets := Assets()
	all := make(map[string]*Asset, len(assets))
	for i := range assets {
		if all[assets[i].Name] != nil {
			panic("two assets have the name " + assets[i].Name)
		}
		all[assets[i].Name] = &assets[i]
	}
	return all
})

// Named returns the asset of that name. There must be one.
func Named(name string) *Asset {
	a := byName()[name]
	if a == nil {
		panic("there is no asset " + name)
	}
	return a
}

// Path returns the path of the asset of that name.
func Path(name string) (string, error) {
	if a := byName()[name]; a != nil {
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
		// Not ReadFile, which copies two megabytes.
		f, err := files.Open(name)
		if err != nil {
			return err
		}
		sum := xxhash.New()
		if _, err := io.Copy(sum, f); err != nil {
			return err
		}
		base, digest := path.Base(name), hex.EncodeToString(sum.Sum(nil))
		all = append(all, Asset{
			Name: base,
			Path: "/static/" + strings.TrimSuffix(base, extension) + "." + digest + extension,
			Type: mediaTypes[extension],
			file: name,
		})
		return nil
	})
	if err != nil {
		panic(err)
	}
	return all
}
