package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"questscheduler/internal/config"
	"questscheduler/internal/store/firestore"
)

// readSettings reads the settings, and gives everything that is wrong with
// them in the order of their names.
func readSettings(environ []string, defaults config.Config) (config.Config, config.Problems, error) {
	cfg, err := config.Read(environ, defaults)
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return config.Config{}, nil, err
	}
	if cfg.Store == config.StoreFirestore && cfg.FirestoreEndpoint == "" && slices.ContainsFunc(environ, setsEmulator) {
		problems = append(problems, config.Problem{Name: firestore.EmulatorVariable,
			Mend: "is set, and this program does not follow it; unset it, or set QS_FIRESTORE_ENDPOINT to its value"})
	}
	slices.SortStableFunc(problems, func(a, b config.Problem) int { return strings.Compare(a.Name, b.Name) })
	return cfg, problems, nil
}

// setsEmulator tells whether a variable sends Google's own clients to an
// emulator: who set it does not expect that production is written to.
func setsEmulator(variable string) bool {
	value, is := strings.CutPrefix(variable, firestore.EmulatorVariable+"=")
	return is && value != ""
}

// loadSettings gives settings that the server can run with, or a usageError
// with everything that is wrong.
func loadSettings(environ []string, defaults config.Config) (config.Config, error) {
	cfg, problems, err := readSettings(environ, defaults)
	if err == nil {
		err = settingsError(problems)
	}
	if err != nil {
		return config.Config{}, err
	}
	return cfg, nil
}

// loadSome is loadSettings for a command that needs no more than the named
// settings: what is wrong with the others is not its concern, but for names
// that are no setting, which may be a mistyped one of these.
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

// settingsError is one message for all problems; nil where there is none.
func settingsError(problems config.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	listed := "  " + strings.ReplaceAll(problems.Error(), "\n", "\n  ")
	return usageError{fmt.Errorf("the settings cannot be used:\n%s\nSettings are environment variables; \"questscheduler doctor\" checks them all", listed)}
}
