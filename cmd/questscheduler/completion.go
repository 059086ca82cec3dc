package main

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"
)

// completionCommand prints a completion script, made from the commands and
// flags that there are.
type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is what --help says beside the flags.
func (completionCommand) Help() string {
	return `Examples:

    source <(questscheduler completion bash)                 # for this session; in ~/.bashrc for all
    questscheduler completion zsh > "${fpath[1]}/_questscheduler"
    questscheduler completion fish > ~/.config/fish/completions/questscheduler.fish`
}

//go:embed completion.tmpl
var completionSource string

var completionScripts = template.Must(template.New("completion").Funcs(template.FuncMap{
	"quote": quoteWord, "last": lastWord, "parent": parentPath, "join": strings.Join,
}).Parse(completionSource))

// Run is the command.
func (c completionCommand) Run(process Process, parsed *kong.Context) error {
	return completionScripts.ExecuteTemplate(process.Stdout, c.Shell, completionsOf(parsed.Model.Node, ""))
}

// completions are the words that can follow a command.
type completions struct {
	Path  string // of the command, its names joined by spaces; "" for none yet
	Words []completionWord
}

// completionWord is a command, a value or a flag, with what it means.
type completionWord struct{ Word, Help string }

// completionsOf lists the words that can follow each command, a command before
// those below it.
func completionsOf(node *kong.Node, path string) []completions {
	here := completions{Path: path}
	var below []completions
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		here.Words = append(here.Words, completionWord{child.Name, firstSentence(child.Help)})
		below = append(below, completionsOf(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	for _, argument := range node.Positional {
		if argument.Enum == "" {
			continue
		}
		for _, value := range argument.EnumSlice() {
			here.Words = append(here.Words, completionWord{value, argument.Name})
		}
	}
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			here.Words = append(here.Words, completionWord{"--" + flag.Name, firstSentence(flag.Help)})
		}
	}
	return append([]completions{here}, below...)
}

func firstSentence(help string) string {
	sentence, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(sentence, ".")
}

// quoteWord makes one word of a text, in the quotes that all three shells have.
func quoteWord(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "’") + "'"
}

func lastWord(path string) string { return path[strings.LastIndexByte(path, ' ')+1:] }

func parentPath(path string) string { return path[:max(strings.LastIndexByte(path, ' '), 0)] }
