package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// mostParams is how many parameters a function may have. What belongs together of more is a
// struct with a meaning of its own.
const mostParams = 5

// manyParams are the functions of the program that have more: rows of a table (route, taggedRoute),
// parts that are wired once (newTimers), the figures of one log line (log), two bounds of one list
// (GroupPolls), and calls of an API by an event's id and version, time and zone (PatchTimes), or by
// whatever a route of Discord takes.
var manyParams = []string{
	"api.route", "api.taggedRoute", "cmd/questscheduler.server.newTimers", "demo/sim/discord.bucketHeaders",
	"demo/sim/discord.decode", "internal/gcal.Client.PatchTimes", "internal/outbox.Outbox.log", "internal/poll.GroupPolls",
	"notify.DiscordClient.call",
}

// paramsOf counts the parameters of a function.
func paramsOf(declared *ast.FuncDecl) (n int) {
	for _, field := range declared.Type.Params.List {
		n += max(1, len(field.Names))
	}
	return n
}

// nameOf is a function's package and name, with its receiver.
func nameOf(pkg string, declared *ast.FuncDecl) string {
	if declared.Recv == nil {
		return pkg + "." + declared.Name.Name
	}
	receiver := ""
	ast.Inspect(declared.Recv.List[0].Type, func(node ast.Node) bool {
		if name, ok := node.(*ast.Ident); ok && receiver == "" {
			receiver = name.Name
		}
		return receiver == ""
	})
	return pkg + "." + receiver + "." + declared.Name.Name
}

func TestFunctions_HaveFewParameters(t *testing.T) {
	t.Parallel()
	var found []string
	for _, source := range sources(t) {
		if source.test || strings.HasPrefix(source.pkg+"/", "internal/test/") || strings.HasPrefix(source.pkg, "tools/") {
			continue
		}
		text, err := fs.ReadFile(module, source.path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), source.path, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			declared, ok := declaration.(*ast.FuncDecl)
			if !ok || paramsOf(declared) <= mostParams {
				continue
			}
			name := nameOf(source.pkg, declared)
			found = append(found, name)
			if !slices.Contains(manyParams, name) {
				t.Errorf("%s: %s has %d parameters, more than %d", source.path, name, paramsOf(declared), mostParams)
			}
		}
	}
	for _, name := range manyParams {
		if !slices.Contains(found, name) {
			t.Errorf("%s has no more parameters than others: strike it from manyParams", name)
		}
	}
}
