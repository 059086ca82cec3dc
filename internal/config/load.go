package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agext/levenshtein"
	"github.com/caarlos0/env/v11"
)

// maxFile is the largest file of a QS_X_FILE, and fileSuffix its mark.
const (
	maxFile    = 64 << 10
	fileSuffix = "_FILE"
)

// Problem is a variable with what is wrong and what to do. It never holds the value.
type Problem struct{ Name, Fix string }

// Problems is an error that lists everything that is wrong, sorted by name.
type Problems []Problem

// Error has one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Name + " " + problem.Fix
	}
	return strings.Join(lines, "\n")
}

// add records a problem of a setting, named without the prefix.
func (p *Problems) add(setting, fix string, args ...any) {
	*p = append(*p, Problem{Name: Prefix + setting, Fix: fmt.Sprintf(fix, args...)})
}

// require records a problem unless ok.
func (p *Problems) require(ok bool, setting, fix string, args ...any) {
	if !ok {
		p.add(setting, fix, args...)
	}
}

// Fields are the fields of Config that are settings, in their order. The tag env
// holds the name without the prefix.
func Fields() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Config]()), func(field reflect.StructField) bool {
		return field.Tag.Get("env") == ""
	})
}

// Group is settings that belong together, in their order.
type Group struct {
	Title  string
	Fields []reflect.StructField
}

// Groups are the settings by what they are about.
func Groups() (groups []Group) {
	for _, field := range Fields() {
		if title := field.Tag.Get("group"); title != "" {
			groups = append(groups, Group{Title: title})
		}
		last := &groups[len(groups)-1]
		last.Fields = append(last.Fields, field)
	}
	return groups
}

// Names are all settings in the order of Config, with the prefix. Each can also
// be given as a file, under its name and _FILE.
func Names() []string {
	var all []string
	for _, field := range Fields() {
		all = append(all, Prefix+field.Tag.Get("env"))
	}
	return all
}

// Load reads settings from an environment of NAME=value, as os.Environ gives it,
// over defaults, and checks them whole. An empty value counts as not set. The error
// is a Problems with all that is wrong.
func Load(environ []string, defaults Config) (Config, error) {
	c, err := Read(environ, defaults)
	if err != nil {
		return Config{}, err
	}
	return c, nil
}

// Read is Load for a command that needs some settings only: with a Problems it
// returns the settings too. One that could not be parsed has its default, one that
// is wrong the given value.
func Read(environ []string, defaults Config) (Config, error) {
	var problems Problems
	given := env.ToMap(environ) // of two the last counts, as in a shell
	values := collect(given, &problems)
	c := defaults
	err := env.ParseWithOptions(&c, env.Options{Environment: values, Prefix: Prefix, FuncMap: parsers})
	if err := problems.addParsing(err); err != nil {
		return Config{}, err
	}
	c.Around = Surroundings{
		AuthEmulator: given[AuthEmulatorVariable], StoreEmulator: given[storeEmulatorVariable], CloudRun: given[serviceVariable] != "",
	}
	c.derive()
	c.check(&problems)
	if len(problems) == 0 {
		return c, nil
	}
	return c, problems.tidy().withFiles(given)
}

// fileName is a path as an error may show it. What lies in no folder may be a secret that was
// given in place of its file.
func fileName(path string) string {
	folder := filepath.Dir(path)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() || folder == "." || folder == string(filepath.Separator) {
		return "a file"
	}
	return "the file " + path
}

// withFiles names the file that a wrong value was read from.
func (p Problems) withFiles(given map[string]string) Problems {
	for i, problem := range p {
		if file := given[problem.Name+fileSuffix]; file != "" && given[problem.Name] == "" {
			p[i].Fix += " (read from " + file + ")"
		}
	}
	return p
}

// tidy sorts the problems and keeps the first of each setting. A value whose file
// could not be read is not missing too.
func (p Problems) tidy() Problems {
	inFile := func(problem Problem) bool {
		return slices.ContainsFunc(p, func(other Problem) bool { return other.Name == problem.Name+fileSuffix })
	}
	tidied := slices.DeleteFunc(slices.Clone(p), inFile)
	slices.SortStableFunc(tidied, func(a, b Problem) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(tidied, func(a, b Problem) bool { return a.Name == b.Name })
}

// collect returns the values of the known variables, including those in files.
func collect(given map[string]string, problems *Problems) map[string]string {
	names, values := Names(), map[string]string{}
	for name, value := range given {
		setting := strings.TrimPrefix(name, Prefix)
		plain, inFile := strings.CutSuffix(name, fileSuffix)
		switch {
		case !strings.HasPrefix(name, Prefix):
		case slices.Contains(names, name):
			if value != "" { // a file counts beside an empty value
				values[name] = value
			}
		case !inFile || !slices.Contains(names, plain):
			problems.add(setting, "%s", unknown(name))
		case given[plain] != "":
			problems.add(setting, "and %s are both set; unset one of them", plain)
		case value != "":
			text, err := readFile(value)
			if inPath, ok := errors.AsType[*os.PathError](err); ok {
				err = inPath.Err // the path is named once
			}
			if err != nil {
				problems.add(setting, "names %s, which cannot be read (%s); check its path and its rights", fileName(value), err)
				continue
			}
			values[plain] = text
		}
	}
	return values
}

// maxTypos is how many letters of a mistyped name may differ from the setting's.
const maxTypos = 3

// unknown suggests the closest setting.
func unknown(variable string) string {
	distance := func(name string) int { return levenshtein.Distance(variable, name, nil) }
	closest := slices.MinFunc(Names(), func(a, b string) int { return cmp.Compare(distance(a), distance(b)) })
	if distance(closest) > maxTypos {
		return "is no setting; unset it"
	}
	return "is no setting; is " + closest + " meant?"
}

// readFile reads a value without the line end that editors leave.
func readFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if len(text) > maxFile {
		return "", errors.New("it is larger than 64 KiB")
	}
	return strings.TrimRight(string(text), "\r\n"), err
}

// rule is a parser's error: what the value has to be.
type rule string

func (r rule) Error() string { return string(r) }

// parser is a parser whose error does not hold the value, unlike the library's own.
func parser[T any](parse func(string) (T, error), fix rule) env.ParserFunc {
	return func(text string) (any, error) {
		value, err := parse(strings.TrimSpace(text))
		if err != nil {
			return nil, fix
		}
		return value, nil
	}
}

var parsers = map[reflect.Type]env.ParserFunc{
	reflect.TypeFor[time.Duration](): parser(time.ParseDuration, "has to be a duration such as 10s, 15m or 168h"),
	reflect.TypeFor[float64](): parser(func(text string) (float64, error) { return strconv.ParseFloat(text, 64) },
		"has to be a number such as 0.5"),
	reflect.TypeFor[int]():            parser(strconv.Atoi, "has to be a whole number such as 5"),
	reflect.TypeFor[string]():         func(text string) (any, error) { return strings.TrimSpace(text), nil },
	reflect.TypeFor[[]string]():       func(text string) (any, error) { return items(text), nil },
	reflect.TypeFor[[]netip.Prefix](): func(text string) (any, error) { return networks(text) },
}

// items are the non-empty items of a list with commas.
func items(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if item != "" {
			list = append(list, item)
		}
	}
	return list
}

// addParsing turns the library's errors into problems. It returns an error that is
// about Config itself, a mistake in this package.
func (p *Problems) addParsing(err error) error {
	all, ok := errors.AsType[env.AggregateError](err)
	if !ok {
		return err
	}
	for _, one := range all.Errors {
		parse, _ := errors.AsType[env.ParseError](one)
		field, known := reflect.TypeFor[Config]().FieldByName(parse.Name)
		fix, ok := errors.AsType[rule](parse.Err)
		if !known || !ok {
			return err
		}
		p.add(field.Tag.Get("env"), "%s", fix)
	}
	return nil
}
