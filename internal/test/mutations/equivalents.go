package main

import (
	_ "embed" // the list of equivalents
	"errors"
	"fmt"
	"strings"
)

// equivalentsFile lists changes that alter nothing that anybody could notice. A line has
// four parts, separated by tabs: file, function, change and the reason.
//
//go:embed equivalents.txt
var equivalentsFile string

// readEquivalents returns the listed changes by their name, with their reasons.
func readEquivalents() (map[string]string, error) {
	reasons := map[string]string{}
	var problems []error
	for number, line := range strings.Split(equivalentsFile, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, "\t")
		if len(parts) != 4 || strings.TrimSpace(parts[3]) == "" {
			problems = append(problems, fmt.Errorf("equivalents.txt:%d: want file, function, change and reason, separated by tabs", number+1))
			continue
		}
		reasons[strings.Join(parts[:3], "\t")] = parts[3]
	}
	return reasons, errors.Join(problems...)
}
