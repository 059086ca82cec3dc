package main

import (
	"context"
	"time"

	"questscheduler/api"
	"questscheduler/attendees/mappings"
	"questscheduler/internal/accounts"
	"questscheduler/internal/config"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store/sqlite"
	"questscheduler/operations/doctor"
)

// doctorCommand checks what the server needs.
type doctorCommand struct{}

// Help is what --help says beside the flags.
func (doctorCommand) Help() string {
	return `It changes nothing, and may run beside the server. Outside this machine it calls only Firestore ` +
		`and Cloud Tasks, where those are used, and Google where it has a service account that reads second ` +
		`addresses; it tries simulators of Google and Discord, by QS_DISCORD_ENDPOINT or on the loopback ` +
		`interface. The exit code is 1 where something is wrong.

Example:

    questscheduler doctor`
}

// Run is the command.
func (doctorCommand) Run(ctx context.Context, process Process) error {
	cfg, problems, err := readSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	return newDoctor(cfg, problems).Report(ctx, process.Stdout)
}

// newDoctor checks settings, whose problems were found before.
func newDoctor(cfg config.Config, problems config.Problems) doctor.Doctor {
	return doctor.Doctor{
		Config: cfg, Problems: problems, Now: time.Now, Program: checked{cfg},
		Redirect: reachedAt(cfg) + api.PathCallback, PushPath: webhookPath,
	}
}

// checked opens for the doctor what settings name.
type checked struct{ config config.Config }

func (c checked) Firestore(ctx context.Context) (doctor.Database, error) {
	return openFirestore(ctx, c.config, queries())
}

func (c checked) File(ctx context.Context) (doctor.DataFile, error) {
	return sqlite.OpenReader(ctx, sqlite.Options{Path: c.config.SQLitePath, Queries: queries()})
}

func (c checked) Tasks(ctx context.Context) (doctor.Tasks, error) {
	return openCloudTasks(ctx, c.config, &outbox.Outbox{})
}

func (c checked) SecondAddresses() (mappings.Source, doctor.Delegate, error) {
	delegation, err := newDelegation(c.config)
	if err != nil {
		return nil, nil, err
	}
	grants := accounts.NewGrants(accounts.GrantOptions{
		Delegation: delegation, TokenURL: oauthURL(c.config, "/token"), Now: time.Now,
	})
	return newSource(c.config, grants, time.Now), grants, nil
}
