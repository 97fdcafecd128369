package main

import (
	"errors"
	"fmt"
	"go/build"
	"path"
	"regexp"
	"strings"
)

// names are what a service is called.
type names struct {
	module, name, prefix string
	singular, plural     string // of the entity
}

// current are the names of this repository.
var current = names{module: "plantstore", name: "plant-store", prefix: "pst_", singular: "plant", plural: "plants"}

// samples are words for plants in examples and tests, with the words for another
// entity.
var samples = map[string]string{
	"Monstera": "Alpha", "indoor": "usual", "Fern": "Beta", "fern": "beta", "isFern": "isBeta", "ficus": "gamma",
}

// longestName is the longest name of a stack in AWS, less that of its stage.
const longestName = 128 - len("-production")

// parse returns the names in the arguments, or an error if Go or AWS would not take
// them.
func parse(arguments []string) (names, error) {
	n := names{module: arguments[0], name: arguments[1], singular: current.singular, plural: current.plural}
	n.prefix = regexp.MustCompile(`(\w)\w*-?`).ReplaceAllString(n.name, "$1") + "t_"
	if len(arguments) > 2 {
		n.prefix = arguments[2]
	}
	if len(arguments) > 3 {
		n.singular, n.plural, _ = strings.Cut(arguments[3], "/")
	}
	if _, err := output("go", "mod", "edit", "-module", n.module, "-print"); err != nil {
		return n, fmt.Errorf("MODULE must be a module path, such as example.com/acme/bookshelf (%w)", err)
	}
	first, _, _ := strings.Cut(n.module, "/")
	standard, _ := build.Import(first, "", build.FindOnly) // fails for all others
	folder := regexp.MustCompile(`^(vendor|testdata|internal)$`)
	switch {
	case standard.Goroot:
		return n, fmt.Errorf("MODULE must not begin with %s, a package of Go's standard library", first)
	case len(n.name) > longestName || !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(n.name):
		return n, fmt.Errorf("NAME must be words of lower-case letters and digits with hyphens between them, "+
			"such as book-shelf, with at most %d characters", longestName)
	case !regexp.MustCompile(`^[a-z][a-z0-9]{0,8}_$`).MatchString(n.prefix):
		return n, errors.New("PREFIX must be up to 9 lower-case letters and digits, then _, such as bks_")
	case !regexp.MustCompile(`^[a-z]+/[a-z]+$`).MatchString(n.singular + "/" + n.plural):
		return n, errors.New("ENTITY must be one word of lower-case letters in singular and plural, such as book/books")
	case folder.MatchString(n.command()) || folder.MatchString(n.singular):
		return n, errors.New("NAME and ENTITY must not be vendor, testdata or internal, which have a meaning for Go")
	}
	return n, nil
}

// words returns the words of the name, each with a capital first letter, with a
// separator between them.
func (n names) words(separator string) string {
	var words []string
	for word := range strings.SplitSeq(n.name, "-") {
		words = append(words, capital(word))
	}
	return strings.Join(words, separator)
}

// command returns the name as that of a command and of the root package.
func (n names) command() string { return strings.ReplaceAll(n.name, "-", "") }

// forms returns every form in which the names stand in files, always in the same
// order. A form stands before the forms that it contains.
func (n names) forms() []string {
	root := `"` + n.module + `"`
	if path.Base(n.module) != n.command() {
		root = n.command() + " " + root
	}
	return []string{
		// Where the module stands, the name of the command may be the same word.
		"module " + n.module, "module-path: " + n.module, "local-prefixes: [" + n.module, `"` + n.module + `/`, "\t" + root + "\n",
		", " + n.module + "/", ", " + n.module + "$", // in .golangci.yml
		n.words(" "), n.words(""), n.name, n.command(), n.prefix,
		n.plural, capital(n.plural), strings.ToUpper(n.plural),
		n.singular, capital(n.singular), strings.ToUpper(n.singular),
	}
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// article returns a or an.
func article(word string) string {
	vowel := regexp.MustCompile(`(?i)^(hour|heir|hono|[aeiou])`)
	consonant := regexp.MustCompile(`(?i)^(eu|one|uni|us[aei])`)
	if vowel.MatchString(word) && !consonant.MatchString(word) {
		return "an"
	}
	return "a"
}
