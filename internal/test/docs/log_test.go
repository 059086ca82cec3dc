package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"questscheduler/internal/test/docs"
)

// logLine is a line of the log that says that something is wrong.
type logLine struct{ level, message string }

// levels are the methods that write such lines, whatever they are called on.
var levels = map[string]string{"Warn": "WARN", "WarnContext": "WARN", "ErrorContext": "ERROR"}

// logLines finds the log lines in the text of a file. A message must be a string
// literal, or nobody could find it on the page.
func logLines(t *testing.T, name, text string) (lines []logLine) {
	t.Helper()
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	called := map[ast.Expr]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			level, at := levelOf(n)
			if level == "" {
				return true
			}
			called[n.Fun] = true
			if message, ok := literal(n.Args, at); ok {
				lines = append(lines, logLine{level, message})
			} else {
				t.Errorf("%s: the message of a line of the log is no text that stands there", positions.Position(n.Pos()))
			}
		case *ast.SelectorExpr:
			if levels[n.Sel.Name] != "" && isLog(n.X) && !called[n] {
				t.Errorf("%s: %s is handed on; call it, so that its message can be found", positions.Position(n.Pos()), n.Sel.Name)
			}
		}
		return true
	})
	return lines
}

// levelOf is the level of a call that writes a line, and which of its arguments
// is the message.
func levelOf(call *ast.CallExpr) (level string, at int) {
	method, is := call.Fun.(*ast.SelectorExpr)
	if !is {
		return "", 0
	}
	if strings.HasSuffix(method.Sel.Name, "Context") {
		at = 1
	}
	level = levels[method.Sel.Name]
	if method.Sel.Name == "Error" && len(call.Args) > 0 && isLog(method.X) { // errors have a method of that name too
		level = "ERROR"
	}
	return level, at
}

func isLog(on ast.Expr) bool {
	switch x := on.(type) {
	case *ast.Ident:
		return strings.EqualFold(x.Name, "log") || x.Name == "slog"
	case *ast.SelectorExpr:
		return strings.EqualFold(x.Sel.Name, "log")
	}
	return false
}

func literal(args []ast.Expr, at int) (string, bool) {
	if at >= len(args) {
		return "", false
	}
	text, is := args[at].(*ast.BasicLit)
	if !is || text.Kind != token.STRING {
		return "", false
	}
	message, err := strconv.Unquote(text.Value)
	return message, err == nil
}

// fieldMakers are the functions of slog that make a field of a name and a value.
var fieldMakers = []string{"Any", "Bool", "Duration", "Int", "Int64", "String", "Time"}

// logFields finds the names of fields in the text of a file: those in calls of slog, and
// those that follow the message.
func logFields(t *testing.T, name, text string) (fields []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(node ast.Node) bool {
		call, is := node.(*ast.CallExpr)
		if !is {
			return true
		}
		method, is := call.Fun.(*ast.SelectorExpr)
		if !is {
			return true
		}
		from, on := method.X.(*ast.Ident)
		switch {
		case on && from.Name == "slog" && slices.Contains(fieldMakers, method.Sel.Name):
			if field, ok := literal(call.Args, 0); ok {
				fields = append(fields, field)
			}
		case slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, strings.TrimSuffix(method.Sel.Name, "Context")):
			at := 1
			if strings.HasSuffix(method.Sel.Name, "Context") {
				at = 2
			} else if !isLog(method.X) {
				return true
			}
			for ; at < len(call.Args); at++ {
				if field, ok := literal(call.Args, at); ok {
					fields = append(fields, field)
					at++ // its value
				}
			}
		}
		return true
	})
	return fields
}

var fieldName = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

var (
	// logItem explains a line of the log, or several that mean the same; logMessage is one of them.
	logItem    = regexp.MustCompile("(?m)^- (`[^`]+`(?:, `[^`]+`)*): ")
	logMessage = regexp.MustCompile("`([^`]+)`")
	// quietLine is a warning that needs no action, in the page's list of them.
	quietLine = regexp.MustCompile("(?m)^- `([^`]+)`$")
)

// Every line of the log by which the program says that something is wrong stands
// in the page for operators, with what to do; and no other does.
func TestEveryLineOfTheLogThatSaysWhatIsWrong_IsExplained(t *testing.T) {
	t.Parallel()
	page := docs.Read(t, "docs/log.md")
	var documented []logLine
	for _, level := range []string{"WARN", "ERROR"} {
		for _, item := range logItem.FindAllStringSubmatch(section(t, "docs/log.md", level), -1) {
			for _, message := range logMessage.FindAllStringSubmatch(item[1], -1) {
				documented = append(documented, logLine{level, message[1]})
			}
		}
	}
	for _, quiet := range quietLine.FindAllStringSubmatch(page, -1) {
		documented = append(documented, logLine{"WARN", quiet[1]})
	}
	for i, line := range documented {
		if slices.Contains(documented[:i], line) {
			t.Errorf("it explains | %s | `%s` | again", line.level, line.message)
		}
	}
	var written []logLine
	var fields []string
	root := os.DirFS(docs.Root(t))
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() &&
			(name == "demo/sim" || name == "internal/test" || name == "tools" || name == "bin" ||
				name != "." && strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir // what operators never run
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			written = append(written, logLines(t, name, docs.Read(t, name))...)
			fields = append(fields, logFields(t, name, docs.Read(t, name))...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(written) < 20 {
		t.Fatalf("%d lines were found, which cannot be all", len(written))
	}
	if len(fields) < 100 {
		t.Fatalf("%d fields were found, which cannot be all", len(fields))
	}
	for _, field := range fields {
		if !fieldName.MatchString(field) {
			t.Errorf("the field %s of a line of the log is not snake_case", field)
		}
	}
	for _, line := range written {
		if !slices.Contains(documented, line) {
			t.Errorf("no page of the log explains | %s | `%s` |", line.level, line.message)
		}
	}
	for _, line := range documented {
		if !slices.Contains(written, line) {
			t.Errorf("a page of the log explains | %s | `%s` |, which the program does not write", line.level, line.message)
		}
	}
}

func TestLogLines_AreFoundHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	got := logLines(t, "a.go", `package a
		func f() {
			s.log.Warn("one", "error", err)
			t.Log.WarnContext(ctx, "two")
			log.Error("three")
			l.Log.ErrorContext(ctx, "four", "x", 1)
			slog.Error("five")
			text := err.Error()
			s.Log.InfoContext(ctx, "no trouble")
		}`)
	if got := logFields(t, "a.go", `package a
		func f() { s.log.Info("one", "aB", 1, slog.String("b", ""), "c"); l.Log.WarnContext(ctx, "two", "d e", err) }`,
	); !slices.Equal(got, []string{"aB", "c", "b", "d e"}) {
		t.Errorf("found the fields %q", got)
	}
	want := []logLine{{"WARN", "one"}, {"WARN", "two"}, {"ERROR", "three"}, {"ERROR", "four"}, {"ERROR", "five"}}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
