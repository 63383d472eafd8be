package cmd

import (
	"go/ast"
	"strings"
	"testing"
)

// The server does not read what it has written: values stay values until the last printer. So code
// of api that takes text apart reads text of others, and this is the list of it. Names and
// declarations are a few words of the source, which a compiler or a start has checked.

// What is read.
const (
	ofRequest     = "a request: its path, query, header or body"
	ofFile        = "a file or a message of others"
	ofDeclaration = "a declaration of this repository, embedded or in code"
	ofName        = "a name of a field, a parameter or a part of a path"
	ofNumber      = "the digits of a number or a time"
	ofValue       = "a value of the data"
)

// readers are the functions and variables of api that take text apart, by their room, with what
// they read.
var readers = map[string]map[string]string{
	"additivity": {
		"agesOf": ofValue,
	},
	"boundary": {
		"addGeoJSON":   ofFile,
		"addParquet":   ofFile,
		"deeper":       ofFile,
		"isISO3":       ofFile,
		"isVersion":    ofFile,
		"polygons":     ofFile,
		"Read":         ofFile,
		"readFeatures": ofFile,
	},
	"browse": {
		"addRecords": ofDeclaration,
		"ask":        ofName,
		"cellOf":     ofName,
		"chipText":   ofName,
		"inContract": ofDeclaration,
		"isQuiet":    ofName,
		"label":      ofName,
		"measuresOf": ofDeclaration,
		"nounLabel":  ofName,
		"readState":  ofRequest,
		"rounded":    ofNumber,
		"shortTime":  ofNumber,
		"sort":       ofRequest,
		"suggest":    ofName,
		"Newest":     ofValue,
		"measureOf":  ofDeclaration,
	},
	"chart": {
		"World": ofDeclaration,
	},
	"contract": {
		"cutNumber":     ofNumber,
		"cutValue":      ofRequest,
		"exportContent": ofDeclaration,
		"Headlines":     ofDeclaration,
		"hintAtName":    ofName,
		"Measure":       ofDeclaration,
		"Name":          ofName,
		"parseInteger":  ofNumber,
		"readMeasure":   ofRequest,
		"refuseList":    ofName,
		"removedOf":     ofDeclaration,
		"section":       ofDeclaration,
		"snapshotForm":  ofRequest,
		"unixNumber":    ofNumber,
		"Views":         ofDeclaration,
		"WebLink":       ofValue,
		"wordsOf":       ofDeclaration,
	},
	"encode": {
		"weight":  ofRequest,
		"weights": ofRequest,
	},
	"files": {
		"answerBulk": ofRequest,
	},
	"figures": {
		"OpenKept":      ofFile,
		"UnmarshalJSON": ofFile,
		"place":         ofFile,
	},
	"find": {
		"begins":         ofValue,
		"cutPart":        ofRequest,
		"commodityNames": ofValue,
		"vocabularyOf":   ofDeclaration,
		"linesOf":        ofDeclaration,
		"nameAs":         ofValue,
		"otherNames":     ofDeclaration,
		"pageOf":         ofName,
		"stem":           ofRequest,
		"termOf":         ofDeclaration,
	},
	"lang": {
		"Between":    ofNumber,
		"fromLeft":   ofDeclaration,
		"inTemplate": ofDeclaration,
		"Number":     ofNumber,
		"read":       ofDeclaration,
	},
	"list": {
		"MountOf": ofName,
	},
	"mcp": {
		"byUnitName":   ofName,
		"callFor":      ofName,
		"decode":       ofRequest,
		"filters":      ofName,
		"filtersOf":    ofRequest,
		"Foreign":      ofRequest,
		"guard":        ofRequest,
		"missing":      ofName,
		"readMessage":  ofRequest,
		"readMessages": ofRequest,
		"send":         ofFile,
		"setHeader":    ofRequest,
		"tools":        ofDeclaration,
		"unitsOf":      ofRequest,
	},
	"not_found.go": {
		"meantPath": ofRequest,
	},
	"odata": {
		"answer":      ofRequest,
		"bestForm":    ofRequest,
		"orderOf":     ofRequest,
		"keyIn":       ofRequest,
		"read":        ofRequest,
		"readOptions": ofRequest,
	},
	"ogc": {
		"answerAreas": ofRequest,
		"readOptions": ofRequest,
		"readQuery":   ofRequest,
		"readTime":    ofRequest,
	},
	"picture": {
		"itemEnd": ofValue,
	},
	"reply": {
		"PathOf":     ofRequest,
		"Preference": ofRequest,
		"rangeOf":    ofRequest,
	},
	"site": {
		"addCountry": ofRequest,
		"addOEmbed":  ofRequest,
		"pagesAt":    ofRequest,
		"readSearch": ofRequest,
		"searched":   ofRequest,
		"viewOf":     ofRequest,
		"fill":       ofDeclaration,
	},
	"state": {
		"AnswerError": ofRequest,
	},
	"wire": {
		"hasGoodHost": ofRequest,
		"Printf":      ofFile,
	},
}

// TestForeignText: nothing in api takes apart what the program itself has written.
func TestForeignText(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, f := range goFiles(t) {
		below, isAPI := strings.CutPrefix(f.path, "api/")
		if !isAPI || f.test || f.dir == "api/apitest" {
			continue
		}
		room, _, _ := strings.Cut(below, "/")
		for name, calls := range readings(f.ast) {
			seen[room+" "+name] = true
			if readers[room][name] == "" {
				t.Errorf("%s: %s reads text by %s. Is it text of others? Then say what it is in readers, in "+
					"cmd/foreign_text_test.go. What the program has written is not read: use the values that it was "+
					"written from", f.path, name, strings.Join(calls, ", "))
			}
		}
	}
	for room, names := range readers {
		for name := range names {
			if !seen[room+" "+name] {
				t.Errorf("%s of api/%s reads no text: take it off readers in cmd/foreign_text_test.go", name, room)
			}
		}
	}
}

// readings are the calls in a file that take text apart, by the name of what they are in.
func readings(file *ast.File) map[string][]string {
	all := map[string][]string{}
	for _, d := range file.Decls {
		name := ""
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.ValueSpec:
				if _, inFunction := d.(*ast.FuncDecl); !inFunction {
					name = n.Names[0].Name
				}
			case *ast.CallExpr:
				s, isSelector := n.Fun.(*ast.SelectorExpr)
				if !isSelector {
					return true
				}
				if of, isName := s.X.(*ast.Ident); isName && takesApart(of.Name, s.Sel.Name) {
					all[name] = append(all[name], of.Name+"."+s.Sel.Name)
				}
			}
			return true
		})
	}
	return all
}

// takesApart reports whether a function of a package takes text apart.
func takesApart(of, function string) bool {
	switch of {
	case "regexp":
		return true
	case "xml":
		return function == "Unmarshal" || function == "NewDecoder"
	case "strings", "bytes":
		return strings.HasPrefix(function, "Cut")
	case "json":
		return function == "Unmarshal" || function == "NewDecoder"
	case "url":
		return strings.HasPrefix(function, "Parse")
	}
	return false
}
