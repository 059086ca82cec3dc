package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/mail"
	"os"
	"path/filepath"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/config"
	"questscheduler/internal/signin"
)

// tokenCommand issues a token of the embedded sign-in.
type tokenCommand struct {
	User  string        `required:"" placeholder:"UID" help:"The user of the token."`
	Email string        `placeholder:"ADDRESS" help:"The user's e-mail address. It counts as verified, so invitations to it are theirs."`
	TTL   time.Duration `name:"ttl" default:"1h" help:"How long the token is valid."`
}

func (tokenCommand) Help() string {
	return `The token is signed with the key beside the store (QS_SQLITE_PATH), so it needs the same user and folder as the ` +
		`server, which may be running. Any user who can read that key can act as anybody. With QS_AUTH=firebase users sign in with Firebase.

Examples:

    questscheduler token --user gm --email gm@example.org
    curl -H "Authorization: Bearer $(questscheduler token --user gm)" http://127.0.0.1:8080/v1/polls`
}

func (c tokenCommand) Run(_ context.Context, process Process) error {
	if address, err := mail.ParseAddress(c.Email); c.Email != "" && (err != nil || address.Address != c.Email) {
		return usageError{errors.New("--email has to be an e-mail address, such as gm@example.org")}
	}
	cfg, err := loadSome(process.Environ, "QS_SQLITE_PATH", "QS_AUTH")
	if err != nil {
		return err
	}
	if cfg.Auth != config.AuthLocal {
		return usageError{errors.New("QS_AUTH is firebase: people sign in there, and a token of this program would be refused")}
	}
	issuer, err := openIssuer(cfg, process)
	if err != nil {
		return err
	}
	token, err := issuer.Issue(signin.Person{UID: c.User, Email: c.Email, EmailVerified: c.Email != ""}, c.TTL)
	if fault.Is(err, fault.Invalid) {
		return usageError{fmt.Errorf("--%w", err)}
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(process.Stdout, token)
	return err
}

// openIssuer loads the key, or creates it if the server was never started. It creates
// no folder, since the server would not use it.
func openIssuer(cfg config.Config, process Process) (*signin.Local, error) {
	path := cfg.SignInKeyPath()
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
		return nil, fmt.Errorf("there is no folder %s; set QS_SQLITE_PATH as for the server", filepath.Dir(path))
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(process.Stderr, "questscheduler: made a new sign-in key, %s; a server with its store beside it uses the same key\n", path)
	}
	return openLocal(cfg, time.Now)
}
