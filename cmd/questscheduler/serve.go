package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"questscheduler/internal/config"
)

type serveCommand struct{}

func (serveCommand) Help() string {
	return `All data is in one file, QS_SQLITE_PATH, with the sign-in key beside it; with ` +
		`QS_STORE=firestore the documents are in Firestore. ` +
		`An interrupt or SIGTERM ends the server once running requests and outside work are done; ` +
		`its watch channels at Google stay, and the next start uses them.

Examples:

    # to try it: no calendar is followed, so Google need not reach this machine
    QS_SYNC=off QS_GOOGLE_CLIENT_ID=none QS_GOOGLE_CLIENT_SECRET=none \
    QS_ENC_KEYS="k1:$(openssl rand -base64 32)" questscheduler serve

    # which settings are missing or wrong
    questscheduler doctor

    # is it ready?
    curl -f http://127.0.0.1:8080/readyz

Settings, all explained in docs/settings.md:
` + settingsByGroup()
}

// settingsByGroup names the settings, a line for each group.
func settingsByGroup() string {
	var text strings.Builder
	for _, group := range config.Groups() {
		fmt.Fprintf(&text, "\n    %s:", group.Title)
		for _, field := range group.Fields {
			text.WriteString(" " + config.Prefix + field.Tag.Get("env"))
		}
	}
	return text.String()
}

func (serveCommand) Run(ctx context.Context, process Process) error {
	return withProgram(ctx, process, func(p *program) error {
		listener, err := listen(p.config.Addr)
		if err != nil {
			return err
		}
		if err := p.start(ctx, listener); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // it was asked to end before it was ready
			}
			return err
		}
		p.log.Info("questscheduler serves", "version", versionText(), "address", listener.Addr().String(),
			"store", p.place(), "off", p.switchedOff())
		return p.serveUntil(ctx)
	})
}

// serveUntil waits for ctx to end, or returns why the server stopped answering
// before.
func (p *program) serveUntil(ctx context.Context) error {
	select {
	case <-ctx.Done():
		p.log.Info("questscheduler ends; what was accepted and is not done is done after the next start")
		return nil
	case err := <-p.failed:
		return err
	}
}

// switchedOff names the parts that the settings leave out, or "nothing".
func (s *server) switchedOff() string {
	var off []string
	switch s.config.Sync {
	case config.SyncOff:
		off = append(off, "sync")
	case config.SyncObserve:
		off = append(off, "applying observations (QS_SYNC=observe)")
	}
	if !s.config.DiscordBotToken.IsSet() {
		off = append(off, "discord")
	}
	if len(s.config.AdminUsers) == 0 {
		off = append(off, "admins")
	}
	return cmp.Or(strings.Join(off, ", "), "nothing")
}
