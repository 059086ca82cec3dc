package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"questscheduler/internal/config"
)

// readSettings returns the settings with everything that is wrong with them, sorted
// by name.
func readSettings(environ []string, defaults config.Config) (config.Config, config.Problems, error) {
	cfg, err := config.Read(environ, defaults)
	problems, ok := errors.AsType[config.Problems](err)
	if err != nil && !ok {
		return config.Config{}, nil, err
	}
	return cfg, problems, nil
}

// loadSettings returns settings that the server can run with, or a usageError with
// everything that is wrong.
func loadSettings(environ []string, defaults config.Config) (config.Config, error) {
	cfg, err := config.Load(environ, defaults)
	if problems, ok := errors.AsType[config.Problems](err); ok {
		err = settingsError(problems)
	}
	return cfg, err
}

// loadSome is loadSettings for a command that needs the named settings only. It
// reports problems of these, and unknown names, which may be mistyped ones of these.
func loadSome(environ []string, names ...string) (config.Config, error) {
	cfg, problems, err := readSettings(environ, config.Default())
	if err != nil {
		return config.Config{}, err
	}
	all := config.Names()
	problems = slices.DeleteFunc(problems, func(p config.Problem) bool {
		name := strings.TrimSuffix(p.Name, "_FILE")
		return slices.Contains(all, name) && !slices.Contains(names, name)
	})
	return cfg, settingsError(problems)
}

// settingsError is one message for all problems; nil if there are none.
func settingsError(problems config.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	listed := "  " + strings.ReplaceAll(problems.Error(), "\n", "\n  ")
	return usageError{
		fmt.Errorf("the settings cannot be used:\n%s\nSettings are environment variables; \"questscheduler doctor\" checks them all", listed),
	}
}
