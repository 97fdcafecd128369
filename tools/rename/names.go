package main

import (
	"errors"
	"regexp"
	"strings"
)

// names are what a service is called.
type names struct {
	module, name, prefix string
	singular, plural     string   // of the entity
	samples              []string // words for entities in examples and tests
}

// current are the names of this repository.
var current = names{
	module: "plantstore", name: "plant-store", prefix: "pst_", singular: "plant", plural: "plants",
	samples: []string{"Monstera", "Fern", "fern", "ficus", "indoor"},
}

// parse returns the names in the arguments.
func parse(arguments []string) (names, error) {
	if len(arguments) < 2 || len(arguments) > 4 {
		return names{}, errors.New("usage: go run ./tools/rename MODULE NAME [PREFIX [ENTITY]]\n" +
			"for example: go run ./tools/rename example.com/acme/bookshelf bookshelf bks_ book/books")
	}
	n := current
	n.module, n.name = arguments[0], arguments[1]
	n.prefix = regexp.MustCompile(`(\w)\w*-?`).ReplaceAllString(n.name, "$1") + "t_"
	if len(arguments) > 2 {
		n.prefix = arguments[2]
	}
	if len(arguments) > 3 {
		n.singular, n.plural, _ = strings.Cut(arguments[3], "/")
		n.samples = []string{"Alpha", "Beta", "beta", "gamma", "usual"}
	}
	hidden := regexp.MustCompile(`/(vendor|testdata)/`)
	switch {
	case !regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`).MatchString(n.name):
		return n, errors.New("NAME must be words of lower-case letters and digits with hyphens between them, such as book-shelf")
	case !regexp.MustCompile(`^[a-z][a-z0-9]{0,8}_$`).MatchString(n.prefix):
		return n, errors.New("PREFIX must be up to 9 lower-case letters and digits, then _, such as bks_")
	case !regexp.MustCompile(`^[a-z]+/[a-z]+$`).MatchString(n.singular + "/" + n.plural):
		return n, errors.New("ENTITY must be one word of lower-case letters in singular and plural, such as book/books")
	case hidden.MatchString("/" + n.command() + "/" + n.singular + "/"):
		return n, errors.New("NAME and ENTITY must not be vendor or testdata, folders that go test ./... leaves out")
	}
	return n, nil
}

// title returns the words of the name, each with a capital first letter.
func (n names) title() string {
	words := strings.Split(n.name, "-")
	for i, word := range words {
		words[i] = capital(word)
	}
	return strings.Join(words, " ")
}

// command returns the name as that of a command.
func (n names) command() string { return strings.ReplaceAll(n.name, "-", "") }

// forms returns every form in which the names stand in files, always in the same
// order. A form stands before the forms that it contains.
func (n names) forms() []string {
	return append([]string{
		// The word is the module only in these forms; elsewhere it is the command.
		"module " + n.module, `"` + n.module + `/`, `"` + n.module + `$`, `"` + n.module + `"` + "\n",
		n.title(), strings.ReplaceAll(n.title(), " ", ""), n.name, n.command(), n.prefix,
		n.plural, capital(n.plural), strings.ToUpper(n.plural),
		n.singular, capital(n.singular), strings.ToUpper(n.singular),
	}, n.samples...)
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
