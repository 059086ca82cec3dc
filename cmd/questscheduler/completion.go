package main

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// completionCommand prints a completion script, generated from the commands and
// flags.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCommand) Help() string {
	return `Examples:

    source <(questscheduler completion bash)                 # for this session; in ~/.bashrc for all
    questscheduler completion zsh > "${fpath[1]}/_questscheduler"
    questscheduler completion fish > ~/.config/fish/completions/questscheduler.fish`
}

//go:embed completion.tmpl
var completionSource string

var completionScripts = template.Must(template.New("completion").Funcs(template.FuncMap{"quote": quoteWord}).Parse(completionSource))

func (c completionCommand) Run(process Process, parsed *kong.Context) error {
	return completionScripts.ExecuteTemplate(process.Stdout, c.Shell, completionsOf(parsed.Model.Node, "", ""))
}

// completions are the words that can follow a command.
type completions struct {
	Path  string // the command's names, joined by spaces
	Step  string // its parent's path, a space, and its name
	Words []completionWord
}

type completionWord struct{ Word, Help string }

// completionsOf lists a command before those below it.
func completionsOf(node *kong.Node, path, step string) []completions {
	here := completions{Path: path, Step: step}
	add := func(word, help string) {
		sentence, _, _ := strings.Cut(help, ". ")
		here.Words = append(here.Words, completionWord{word, strings.TrimSuffix(sentence, ".")})
	}
	var below []completions
	for _, child := range node.Children {
		if !child.Hidden {
			add(child.Name, child.Help)
			childStep := path + " " + child.Name
			below = append(below, completionsOf(child, strings.TrimSpace(childStep), childStep)...)
		}
	}
	for _, argument := range node.Positional {
		if argument.Enum != "" {
			for _, value := range argument.EnumSlice() {
				add(value, argument.Name)
			}
		}
	}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			add("--"+flag.Name, flag.Help)
		}
	}
	return append([]completions{here}, below...)
}

// quoteWord quotes a text for all three shells.
func quoteWord(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "’") + "'"
}
