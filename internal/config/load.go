package config

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
)

// maxFile is the most that is read from a QS_X_FILE.
const maxFile = 64 << 10

// fileSuffix marks a variable that names a file with the value.
const fileSuffix = "_FILE"

// Problem is one thing that is wrong with the settings.
type Problem struct {
	// Name is the variable, such as QS_ADDR.
	Name string
	// Mend says what is wrong and what to do. It never holds the value.
	Mend string
}

// Problems is an error that lists everything that is wrong, in the order of
// the variables' names.
type Problems []Problem

// Error has one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Name + " " + problem.Mend
	}
	return strings.Join(lines, "\n")
}

// add notes a problem of a setting by its name without the prefix.
func (p *Problems) add(setting, mend string, args ...any) {
	*p = append(*p, Problem{Name: Prefix + setting, Mend: fmt.Sprintf(mend, args...)})
}

// names are the settings without the prefix, by the name of their field.
var names = settingNames()

// Fields are the fields of Config that are settings, in their order; the name of
// each, without the prefix, is in its tag env.
func Fields() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Config]()), func(field reflect.StructField) bool {
		return field.Tag.Get("env") == ""
	})
}

func settingNames() map[string]string {
	names := map[string]string{}
	for _, field := range Fields() {
		names[field.Name] = field.Tag.Get("env")
	}
	return names
}

// Load reads settings from an environment of NAME=value, as os.Environ gives
// it, over defaults, and checks them whole. An empty value is none. The error
// is a Problems with all that is wrong.
func Load(environ []string, defaults Config) (Config, error) {
	c, err := Read(environ, defaults)
	if err != nil {
		return Config{}, err
	}
	return c, nil
}

// Read is Load for a command that needs some settings alone, or that tells of
// each how it stands: with a Problems it gives the settings too. One that could
// not be read has its default, one that is wrong what was given.
func Read(environ []string, defaults Config) (Config, error) {
	var problems Problems
	values := collect(environ, &problems)
	c := defaults
	err := env.ParseWithOptions(&c, env.Options{Environment: values, Prefix: Prefix, FuncMap: parsers})
	if err := problems.addParsing(err); err != nil {
		return Config{}, err
	}
	c.Around = surroundings(environ)
	c.derive()
	c.check(&problems)
	if len(problems) == 0 {
		return c, nil
	}
	return c, problems.tidy()
}

// tidy orders the problems and leaves one for each setting: the first found,
// and not that a value is missing whose file could not be read.
func (p Problems) tidy() Problems {
	inFile := func(name string) bool {
		return slices.ContainsFunc(p, func(other Problem) bool { return other.Name == name+fileSuffix })
	}
	tidied := slices.DeleteFunc(slices.Clone(p), func(problem Problem) bool { return inFile(problem.Name) })
	slices.SortStableFunc(tidied, func(a, b Problem) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(tidied, func(a, b Problem) bool { return a.Name == b.Name })
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

// collect gives the values of the known variables, those in files included.
func collect(environ []string, problems *Problems) map[string]string {
	given := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && strings.HasPrefix(name, Prefix) {
			given[name] = value // of two the last counts, as in a shell
		}
	}
	values := map[string]string{}
	for name, value := range given {
		setting := strings.TrimPrefix(name, Prefix)
		plain, inFile := strings.CutSuffix(setting, fileSuffix)
		switch {
		case known(setting):
			if value != "" { // what a file gives beside an empty value counts
				values[name] = value
			}
		case !inFile || !known(plain):
			problems.add(setting, "%s", unknown(setting))
		case given[Prefix+plain] != "":
			problems.add(setting, "and %s%s are both set; unset one of them", Prefix, plain)
		case value != "":
			text, err := readFile(value)
			if err != nil {
				problems.add(setting, "names a file that cannot be read (%s); check its path and its rights", err)
				continue
			}
			values[Prefix+plain] = text
		}
	}
	return values
}

func known(setting string) bool {
	for _, name := range names {
		if name == setting {
			return true
		}
	}
	return false
}

// unknown says what a variable that is none could have meant.
func unknown(setting string) string {
	best, distance := "", 4 // of more than three letters, it is another word
	for _, field := range Fields() {
		name := field.Tag.Get("env")
		if d := editDistance(setting, name); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return "is no setting; unset it"
	}
	return "is no setting; is " + Prefix + best + " meant?"
}

// editDistance counts the letters to change, add or leave out between a and b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// readFile reads a value from a file, without the line end that editors leave.
// Its error holds no path.
func readFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", withoutPath(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", withoutPath(err)
	}
	if len(text) > maxFile {
		return "", errors.New("it is larger than 64 KiB")
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

func withoutPath(err error) error {
	if wrapped := new(os.PathError); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// rule is a parser's error: what the value has to be.
type rule string

func (r rule) Error() string { return string(r) }

// parsers read the values that are no plain text. Unlike the library's own,
// their errors do not hold the value.
var parsers = map[reflect.Type]env.ParserFunc{
	reflect.TypeFor[time.Duration](): func(text string) (any, error) {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil {
			return nil, rule("has to be a duration such as 10s, 15m or 168h")
		}
		return d, nil
	},
	reflect.TypeFor[float64](): func(text string) (any, error) {
		number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, rule("has to be a number such as 0.5")
		}
		return number, nil
	},
	reflect.TypeFor[int](): func(text string) (any, error) {
		number, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, rule("has to be a whole number such as 5")
		}
		return number, nil
	},
	reflect.TypeFor[string](): func(text string) (any, error) { return strings.TrimSpace(text), nil },
	reflect.TypeFor[[]string](): func(text string) (any, error) {
		return items(text), nil
	},
	reflect.TypeFor[[]netip.Prefix](): func(text string) (any, error) { return networks(text) },
}

// items are what stands between commas, without what is empty.
func items(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// addParsing turns the library's errors into problems. One that is about the
// struct and not about a value is given back: it is a mistake in this package.
func (p *Problems) addParsing(err error) error {
	if err == nil {
		return nil
	}
	all := env.AggregateError{}
	if !errors.As(err, &all) {
		return err
	}
	for _, one := range all.Errors {
		parse, ok := errors.AsType[env.ParseError](one)
		if !ok {
			return err
		}
		mend, ok := errors.AsType[rule](parse.Err)
		if !ok {
			return err
		}
		p.add(names[parse.Name], "%s", mend)
	}
	return nil
}
