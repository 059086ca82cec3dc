package firestorerules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"questscheduler/internal/test/docs"
)

// closedCollections are those that no client reads or writes, by the path of a
// document in each: the server's own, and what nobody has heard of.
var closedCollections = []string{
	"calendarEventIndex/NOTE", "calendarWatches/NOTE", "calendars/NOTE", "intents/NOTE", "announcements/POLL",
	"accounts/NOTE", "accountSecrets/NOTE", "userSecrets/gm", "oauthStates/NOTE", "idempotencyKeys/NOTE", "availabilityAnswers/NOTE",
	"timers/NOTE", "backfills/NOTE", "transfers/NOTE", "deadTasks/NOTE", "documentHints/NOTE", "health/readiness",
	"schedulers/POLL/journal/NOTE", "questingGroups/GROUP/journal/NOTE",
	"mirrors/NOTE", "mirrorPeople/gm", "groupConnections/NOTE", "groupEvents/GROUP", "groupMembers/GROUP", "groupWork/NOTE",
	"keptCopies/NOTE", "feedSecrets/NOTE", "feedPeople/gm", "attendeeEvents/NOTE", "attendeeMappings/state",
	"discordUserLinks/NOTE", "discordLinkCodes/NOTE", "discordLinkCodeRateLimits/NOTE", "discordInteractionIds/NOTE", "usersPublic/gm",
	"canonicalEvents/NOTE/mirrorJournal/NOTE",
	"users/gm/secrets/NOTE", "unknownCollection/NOTE", "schedulers/POLL/unknownCollection/NOTE",
}

// readOnly are documents that some may read and no client may write.
var readOnly = []string{
	"schedulers/POLL/calendarSyncSnapshots/NOTE", "questingGroups/GROUP", "users/gm", "canonicalEvents/NOTE",
	"mirrorPolicies/NOTE",
}

// ways are the requests that there are.
var ways = []struct {
	name  string
	reads bool
	of    func(path string) attempt
}{
	{"read", true, func(at string) attempt { return attempt{reads: at} }},
	{"listed", true, func(at string) attempt { return attempt{reads: path.Dir(at)} }},
	{"made", false, func(at string) attempt {
		return attempt{writes: []write{{path: at + "-new", data: fields{"read": true}}}}
	}},
	{"changed", false, func(at string) attempt {
		return attempt{writes: []write{{path: at, named: true, data: fields{"read": true}}}}
	}},
	{"replaced", false, func(at string) attempt { return attempt{writes: []write{{path: at, data: fields{"read": true}}}} }},
	{"deleted", false, func(at string) attempt { return attempt{writes: []write{{path: at}}} }},
}

// closed has refusals only: the other tables have the same requests on open
// documents.
func closed() []scenario {
	var scenarios []scenario
	try := func(at string, reads bool) {
		for _, way := range ways {
			if way.reads && !reads {
				continue
			}
			refused := scenario{name: at + " " + way.name}
			for _, p := range []person{gm, ana, ben, cho, dan, nobody} {
				a := way.of(at)
				a.as, a.there = p, withPoll(nil)
				a.there[at] = merged(a.there[at], fields{"ownerId": "gm", "userId": "gm", "creatorId": "gm"})
				refused.but = append(refused.but, variation{"by " + p.uid, func(changed *attempt) { *changed = a }})
			}
			scenarios = append(scenarios, refused)
		}
	}
	for _, at := range closedCollections {
		try(at, true)
	}
	for _, at := range readOnly {
		try(at, false)
	}
	return scenarios
}

// opened are the collections that the other tables are about.
var opened = []string{
	"schedulers", "slots", "votes", "calendarSyncSnapshots", "basicPolls", "questingGroups", "users", "notifications",
	"canonicalEvents", "mirrorPolicies",
}

// TestEveryCollection_OfTheCode_HasItsRows: each collection of the program has rows in
// a table of open documents or in the table of closed ones.
func TestEveryCollection_OfTheCode_HasItsRows(t *testing.T) {
	t.Parallel()
	known := append(slices.Clone(opened), "collection") // api/ids.go asks whether an id fits into a path
	for _, at := range closedCollections {
		known = append(known, path.Base(path.Dir(at)))
	}
	found := collections(t)
	if len(found) < 15 {
		t.Fatalf("only these were found: %v", found)
	}
	for _, collection := range found {
		if !slices.Contains(known, collection) {
			t.Errorf("no table has rows for the collection %s", collection)
		}
	}
}

// collections are those that the program names: as the first text of store.Doc
// and every second after it, and in declared queries.
func collections(t *testing.T) []string {
	t.Helper()
	root := docs.Root(t)
	var found []string
	add := func(expression ast.Expr) {
		if literal, ok := expression.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			name, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, name)
		}
	}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{"internal/test", "internal/store", "demo/sim", "tools"}, name) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path.Join(root, name), nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.CallExpr:
				if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Doc" {
					for i := 0; i < len(n.Args); i += 2 {
						add(n.Args[i])
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Collection" {
					add(n.Value)
				}
			case *ast.ValueSpec:
				for i, constant := range n.Names {
					if strings.HasSuffix(strings.ToLower(constant.Name), "collection") && i < len(n.Values) {
						add(n.Values[i])
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return slices.Compact(found)
}
