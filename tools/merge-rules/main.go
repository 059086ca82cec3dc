// Command merge-rules merges firestore.rules with the web app's own rules, since a database
// has one file of rules and where two rules match a document either can allow.
//
//	merge-rules [-ours firestore.rules] APP_RULES >merged.rules
//
// The app's rules of polls and of people's notifications go, since each that stayed would
// bypass ours. Its rules of embedded polls and of groups stay, behind conditions of ours.
// Everything else of the app stays as it is. What cannot be merged is an error.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	ours := flag.String("ours", "firestore.rules", "the rules of questscheduler")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: merge-rules [-ours firestore.rules] APP_RULES >merged.rules")
		os.Exit(2)
	}
	if err := run(*ours, flag.Arg(0), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "merge-rules:", err)
		os.Exit(1)
	}
}

// run reads both files, and writes nothing unless they can be merged.
func run(ours, apps string, out io.Writer) error {
	texts := map[string]string{}
	for _, path := range []string{ours, apps} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		texts[path] = string(text)
	}
	merged, err := merge(texts[ours], texts[apps])
	if err != nil {
		return fmt.Errorf("%s: %w", apps, err)
	}
	_, err = io.WriteString(out, merged)
	return err
}
