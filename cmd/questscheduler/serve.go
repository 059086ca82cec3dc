package main

import (
	"context"
	"errors"
	"strings"

	"questscheduler/internal/config"
)

// serveCommand is the server.
type serveCommand struct{}

// Help is what --help says beside the flags.
func (serveCommand) Help() string {
	return `Everything it keeps is one file, QS_SQLITE_PATH, and the sign-in key beside it; with QS_STORE=firestore the documents are there ` +
		`and the file holds its tasks. It ends on an interrupt or SIGTERM ` +
		`once what it is doing is done; its watch channels at Google stay, and the next start goes on with them.

Examples:

    # to try it: no calendar is followed, so nobody has to reach this machine
    QS_SYNC=off QS_GOOGLE_CLIENT_ID=none QS_GOOGLE_CLIENT_SECRET=none \
    QS_ENC_KEYS="k1:$(openssl rand -base64 32)" questscheduler serve

    # what is still missing, and what is wrong
    questscheduler doctor

    # is it ready?
    curl -f http://127.0.0.1:8080/readyz`
}

// Run is the command.
func (serveCommand) Run(ctx context.Context, process Process) (err error) {
	cfg, err := loadSettings(process.Environ, config.Default())
	if err != nil {
		return err
	}
	s, err := openServer(ctx, cfg, wallClock, newLogger(cfg, process.Stderr))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if s.listener, err = listen(cfg.Addr); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil // it was asked to end before it was ready
		}
		return err
	}
	s.log.Info("questscheduler serves", "version", versionText(), "address", s.listener.Addr().String(),
		"store", s.place(), "off", s.switchedOff())
	return s.serveUntil(ctx)
}

// serveUntil waits for ctx to end, or gives why the server stopped answering
// before.
func (s *server) serveUntil(ctx context.Context) error {
	select {
	case <-ctx.Done():
		s.log.Info("questscheduler ends; what was accepted and is not done is done after the next start")
		return nil
	case err := <-s.failed:
		return err
	}
}

// switchedOff names what the settings leave out; "nothing" for none.
func (s *server) switchedOff() string {
	var off []string
	for _, part := range []struct {
		name string
		off  bool
	}{
		{"sync", s.config.Sync == config.SyncOff},
		{"applying what is seen (QS_SYNC=observe)", s.config.Sync == config.SyncObserve},
		{"discord", !s.config.DiscordBotToken.IsSet()},
		{"admins", len(s.config.AdminUsers) == 0},
	} {
		if part.off {
			off = append(off, part.name)
		}
	}
	if len(off) == 0 {
		return "nothing"
	}
	return strings.Join(off, ", ")
}
