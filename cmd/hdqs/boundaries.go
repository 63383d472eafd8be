package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"hdqs/api/boundary"
	"hdqs/internal/atomicfile"
	"hdqs/internal/fetch"
	"hdqs/internal/objects"
)

// maxBoundaries is the most bytes of one downloaded file of boundaries.
const maxBoundaries = 1 << 30

func newBoundaries() *cobra.Command {
	var (
		from, out, whose string
		countries        []string
		p                boundary.Published
		net              netFlags
	)
	cmd := &cobra.Command{
		Use:   "boundaries --from DIR|URL --out FILE",
		Short: "Makes the file of 'serve --boundaries' from the boundaries that OCHA publishes",
		Long: `Makes the file of 'serve --boundaries' from the boundaries that OCHA publishes (cod-ab), of countries
and their units of levels 1 and 2: GeoJSON or GeoParquet, also in zip files.

--from is a folder, a file, the address of a file, or the address of the catalog.json of a tree that
has COUNTRY/latest/admN/original.parquet; with --countries only those are read. What is smaller than
--tolerance is left out; borders that units of a country have in common stay the same line.

Exit codes: 0 success, 1 failed, 2 wrong usage, 3 a source could not be reached.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from == "" || out == "" {
				return usagef("boundaries needs --from and --out")
			}
			if !(p.Tolerance >= 0 && p.Tolerance <= 1) {
				return usagef("--tolerance %g: want 0 to 1 degrees", p.Tolerance)
			}
			for i, code := range countries {
				if countries[i] = strings.ToLower(code); !isCountry.MatchString(countries[i]) {
					err := fmt.Errorf("--countries %q: want codes of three letters, such as AFG", code)
					return exitWith(exitUsage, err)
				}
			}
			read := addBoundaries
			if objects.IsRemote(from) {
				client := fetch.New(net.options())
				read = func(ctx context.Context, from string, countries []string, p *boundary.Published) error {
					return fetchBoundaries(ctx, client, from, countries, p)
				}
			}
			if err := read(cmd.Context(), from, countries, &p); err != nil {
				return err
			}
			text, counts, err := p.Write(whose)
			if err != nil {
				return fmt.Errorf("boundaries of %s: %w", from, err)
			}
			if err := atomicfile.Write(out, text); err != nil {
				return err
			}
			if p.Uncoded+p.Deeper > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "left out: %d features without a code, %d of levels below the second\n",
					p.Uncoded, p.Deeper)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d countries, %d first-level units, %d second-level units of "+
				"%d files, %d bytes\n", out, counts[0], counts[1], counts[2], p.Files, len(text))
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&from, "from", "", "folder, file or address with the published boundaries")
	fl.StringVar(&out, "out", "", "file to write")
	fl.StringVar(&whose, "source", "UN OCHA", "whose boundaries these are, for a line below each map")
	fl.StringSliceVar(&countries, "countries", nil,
		"countries to read of a catalog, by codes of three letters; default: all")
	fl.Float64Var(&p.Tolerance, "tolerance", 0.005, "degrees below which details are left out; 0: none")
	net.register(fl)
	return cmd
}

var isCountry = regexp.MustCompile("^[a-z]{3}$")

// addBoundaries adds a file, or those of a folder.
func addBoundaries(ctx context.Context, from string, countries []string, p *boundary.Published) error {
	if len(countries) > 0 {
		return usagef("--countries chooses from a catalog.json on the web; give --from a " +
			"folder with the files that are wanted")
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return p.Add(filepath.Base(from), data)
	}
	if err := p.AddTree(os.DirFS(from)); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if p.Files == 0 {
		return fmt.Errorf("%s has no file of boundaries: want .geojson, .json, .parquet or .zip", from)
	}
	return ctx.Err()
}

// fetchBoundaries adds a file of the web, or those of a catalog.
func fetchBoundaries(
	ctx context.Context, client *fetch.Client, from string, countries []string, p *boundary.Published,
) error {
	add := func(address, name string) error {
		data, _, err := client.Read(ctx, address, "", maxBoundaries)
		if err != nil {
			return exitWith(exitUpstream, err)
		}
		return p.Add(name, data)
	}
	base, isCatalog := strings.CutSuffix(from, "/catalog.json")
	if !isCatalog {
		return add(from, path.Base(from))
	}
	if len(countries) == 0 {
		var catalog struct {
			Links []struct{ Rel, Href string }
		}
		if err := client.JSON(ctx, from, 16<<20, &catalog); err != nil {
			return exitWith(exitUpstream, err)
		}
		for _, l := range catalog.Links {
			if code := path.Base(path.Dir(l.Href)); l.Rel == "child" && isCountry.MatchString(code) {
				countries = append(countries, code)
			}
		}
		if len(countries) == 0 {
			return fmt.Errorf("%s has no link to a country, such as ./afg/catalog.json", from)
		}
	}
	for _, code := range countries {
		for level := range 3 {
			name := fmt.Sprintf("%s/latest/adm%d/original.parquet", code, level)
			err := add(base+"/"+name, name)
			if status, is := errors.AsType[*fetch.StatusError](err); is && status.Code == 404 && level > 0 {
				break // the country has no such level
			}
			if err != nil {
				return err
			}
		}
		p.Simplify()
	}
	return nil
}
