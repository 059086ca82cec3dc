package layout_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// privateWords are words that this project once used for things that have a
// common name, with the common name. They are not allowed as part of a name, in a
// comment, in a string that is a sentence, or on a page.
var privateWords = map[string]string{
	"look": "sync, read or check", "looks": "sync runs, or is", "looked": "synced or read", "looking": "syncing or reading",
	"looker": "syncer",
	"hint":   "trigger", "hints": "triggers, or document changes",
	"mend": "repair", "mends": "repairs", "mended": "repaired", "mending": "repair", "mendings": "repairs",
	"seen": "observation, or read", "sight": "observation", "sights": "observations", "sighting": "observation", "sightings": "observations",
	"told": "announced, notified, or given", "untold": "unannounced", "telling": "delivery", "tellings": "deliveries",
	"story": "state", "stories": "states",
	"happening": "event", "happenings": "events", "deed": "step", "deeds": "steps",
	"park": "defer", "parks": "defers", "parked": "deferred", "parking": "deferring", "owed": "pending", "owes": "has pending",
	"fate": "what it is", "company": "what it is", "scene": "what it is", "standing": "state, or current",
	"strand": "what it is", "strands": "what it is", "weaving": "interleaving", "weave": "interleave", "weaver": "interleaver",
	"unheard": "missed",
	"amid":    "during", "meanwhile": "concurrently, or since", "whoever": "any user who", "whomever": "any user whom",
}

// privatePhrases are the same for sentences.
var privatePhrases = map[string]string{
	"taken for": "treated as", "takes for": "treats as", "by itself": "separately, or alone",
	"is to be": "must be, or will be", "are to be": "must be, or will be",
	"good no more": "no longer valid", "tells whether": "reports whether", "tell whether": "report whether",
	"set right": "repaired", "sets right": "repairs",
	"asked for by": "requested by, or fetched", "at hand": "available",
}

// contracts are what a sentence quotes, names that other programs use (alerts, a
// function of the standard library), and the one idea that keeps its word.
var contracts = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\"[^\"\n]*\"|LooksFailing|QuotaParking|LookPath|(?i:webhooks? " +
	"(?:is|are) (?:a )?hints?)")

// quoted are the words that a file needs: stored counts, kinds of tasks, names of
// metrics, and texts that people have learnt.
var quoted = map[string][]string{
	"api/dashboard/golden_test.go":       {"look"},
	"cmd/questscheduler/doctor_clock.go": {"hints"},
	"cmd/questscheduler/operate_test.go": {"looks"},
	"operations/backfill/index.go":       {"set right"},
	"operations/metrics/deploy_test.go":  {"hint", "look", "looks"},
	"web-hooks/timers/jobs.go":           {"looks", "set right"},
	"web-hooks/timers/jobs_test.go":      {"set right"},
	"notify/english.go":                  {"whoever"},
}

var spaces = regexp.MustCompile(`[\s/]+`)

// wordsOf splits a name or a sentence into lower-case words.
func wordsOf(text string) (words []string) {
	letters := []rune(text)
	start := 0
	for i := range len(letters) + 1 {
		begins := i == len(letters) || !unicode.IsLetter(letters[i]) ||
			i > start && unicode.IsUpper(letters[i]) && (unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins {
			if i > start {
				words = append(words, strings.ToLower(string(letters[start:i])))
			}
			start = i
			if i < len(letters) && !unicode.IsLetter(letters[i]) {
				start++
			}
		}
	}
	return words
}

// privateIn lists the private words of a name or a sentence of a file, each with
// the word to use.
func privateIn(file, text string, sentence bool) (problems []string) {
	note := func(word, better string) {
		if !slices.Contains(quoted[file], word) {
			problems = append(problems, fmt.Sprintf("%q: say %s", word, better))
		}
	}
	text = contracts.ReplaceAllString(text, " … ")
	if sentence {
		plain := strings.ToLower(spaces.ReplaceAllString(text, " "))
		for _, phrase := range slices.Sorted(maps.Keys(privatePhrases)) {
			if strings.Contains(plain, phrase) {
				note(phrase, privatePhrases[phrase])
			}
		}
	}
	for _, word := range wordsOf(text) {
		if better, private := privateWords[word]; private {
			note(word, better)
		}
	}
	return problems
}

func TestWordsOf_NamesAndSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"TestALook_After410":   "test a look after",
		"calendarsync/look.go": "calendarsync look go",
		"HTTPLook":             "http look",
		"a look, LookDue":      "a look look due",
		"lookup":               "lookup",
		"":                     "",
	} {
		if got := strings.Join(wordsOf(text), " "); got != want {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
}

// privateInCode lists the private words of a file by line.
func privateInCode(t *testing.T, name, text string) (problems []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range privateIn(name, strings.TrimSuffix(path.Base(name), ".go"), false) {
		problems = append(problems, name+": "+problem)
	}
	known := map[string]bool{}
	note := func(at token.Pos, text string, sentence bool) {
		for _, problem := range privateIn(name, text, sentence) {
			problems = append(problems, fmt.Sprintf("%s: %s", files.Position(at), problem))
		}
	}
	for _, group := range file.Comments {
		note(group.Pos(), group.Text(), true)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.Ident:
			if !known[n.Name] {
				known[n.Name] = true
				note(n.Pos(), n.Name, false)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Count(text, " ") > 1 {
				note(n.Pos(), text, true)
			}
		}
		return true
	})
	return problems
}

// TestPrivateWords_AreNotUsed holds names and sentences to the field's terms; a
// folder alone by -run 'TestPrivateWords_AreNotUsed/scheduler$'.
func TestPrivateWords_AreNotUsed(t *testing.T) {
	t.Parallel()
	found := map[string][]string{}
	for _, name := range paths(t) {
		if kind := path.Ext(name); kind != ".go" && kind != ".md" || slices.Contains(exempt, name) {
			continue
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			t.Fatal(err)
		}
		problems := privateInPage(name, string(text))
		if path.Ext(name) == ".go" {
			problems = privateInCode(t, name, string(text))
		}
		found[path.Dir(name)] = append(found[path.Dir(name)], problems...)
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			for _, problem := range found[folder] {
				t.Error(problem)
			}
		})
	}
}

// blank keeps a text's lines and nothing else.
func blank(text string) string { return "…" + strings.Repeat("\n", strings.Count(text, "\n")) }

// privateInPage lists the private words of a page by line.
func privateInPage(name, text string) (problems []string) {
	for i, line := range strings.Split(contracts.ReplaceAllStringFunc(text, blank), "\n") {
		for _, problem := range privateIn(name, line, true) {
			problems = append(problems, fmt.Sprintf("%s:%d: %s", name, i+1, problem))
		}
	}
	return problems
}

// exempt are the files that have to name the words: this table, and the history
// of what earlier versions called things.
var exempt = []string{"internal/test/layout/words_test.go", "CHANGELOG.md"}
