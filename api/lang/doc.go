// Package lang has the languages of the pages for people, and what pages say in them.
//
// English is the source: a text in English is its own key. Each other language has one file with a
// translation of every text; en.json has the texts whose form depends on a number. In templates a
// text stands between double brackets:
//
//	<h1>[[Countries]]</h1>
//	<p>[[Loaded on {{day .Loaded}}.]]</p>
//
// A text may have actions and tags, which its translations must have too. Texts are put into the
// templates of a language once, when these are parsed, so that a page costs no look-up. In Go it is
// Language.T("Records of %s", name), whose formats and plurals are those of golang.org/x/text.
//
// What the interface says, such as the reason of a refusal, is data of package say: a format with
// arguments. Say prints it with the translation of the format.
//
// Digits are 0 to 9 in all languages, and thousands have a narrow space between them, since a point
// or a comma is read as a decimal mark in one country and not in the next. The decimal mark and the
// names of countries are those of CLDR; the UN's name of a country comes first where a file has it.
package lang
