package chart

import (
	_ "embed"
	"strings"
)

//go:generate go run ../../cmd/worldmap -o world.txt ../web/npm/world-atlas/countries-110m.json
//go:embed world.txt
var worldText string

// area is what a map colours.
type area struct{ code, path string }

// world is the areas of the map of countries. Those without a code are "-".
var world = func() []area {
	var all []area
	for line := range strings.Lines(worldText) {
		code, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all = append(all, area{code, path})
	}
	return all
}()
