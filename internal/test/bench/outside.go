package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"

	"questscheduler/demo/sim/discord"
	"questscheduler/demo/sim/google"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	discordlinks "questscheduler/internal/discord"
	"questscheduler/internal/signin"
	"questscheduler/internal/store/sqlite"
	"questscheduler/internal/test/process"
)

// outside is what is outside of the program while that runs as a process of its own: Google,
// Discord, and people.
type outside struct {
	server              *process.Server
	google              *google.Server
	discord             *discord.Server
	googleAt, discordAt *httptest.Server
	issuer              *signin.Local
	tokens              map[int]string // by person
	calendarTokens      map[int]string // of Google
}

const (
	guildID  = "410000000000000001"
	operator = "operator"
)

// beginning is what the program begins with: in its folder and data file, and so many people, each of
// whom has linked a user of Discord, and a calendar where calendars are wanted.
type beginning struct {
	folder, data string // data "": a new file in the folder
	people       int
	calendars    bool
	settings     []string // beside the usual ones
}

// openOutside starts the program.
func openOutside(ctx context.Context, with beginning) (o *outside, err error) {
	o = &outside{tokens: map[int]string{}, calendarTokens: map[int]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close(ctx))
		}
	}()
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	o.google, err = google.New(google.Options{PushClient: &http.Client{Timeout: process.CallTimeout, Transport: transport}})
	if err != nil {
		return o, err
	}
	const bot = "bot-of-the-bench"
	o.discord, err = discord.New(discord.Options{Token: bot, EndpointClient: &http.Client{Transport: transport}})
	if err != nil {
		return o, err
	}
	if err := errors.Join(o.google.Start(ctx), o.discord.AddGuild(guildID, "The Guild")); err != nil {
		return o, err
	}
	o.googleAt, o.discordAt = httptest.NewServer(o.google.Handler()), httptest.NewServer(o.discord.Handler())
	keys, err := seal.Generate()
	if err != nil {
		return o, err
	}
	with.data = cmp.Or(with.data, filepath.Join(with.folder, "data.db"))
	if err := o.seed(ctx, with, string(keys)); err != nil {
		return o, err
	}
	application, key := o.discord.Application()
	return o, o.start(ctx, with.folder, append([]string{
		"QS_SQLITE_PATH=" + with.data, "QS_ENC_KEYS=" + string(keys), "QS_ADMIN_USERS=" + operator, "QS_LOG_LEVEL=warn",
		"QS_GOOGLE_CLIENT_ID=bench", "QS_GOOGLE_CLIENT_SECRET=of-the-bench", "QS_GOOGLE_ENDPOINT=" + o.googleAt.URL,
		"QS_DISCORD_BOT_TOKEN=" + bot, "QS_DISCORD_ENDPOINT=" + o.discordAt.URL,
		"QS_DISCORD_APPLICATION_ID=" + application, "QS_DISCORD_PUBLIC_KEY=" + key,
		"QS_NOTIFY_SETTLE=0s", "QS_NOTICES_PER_HOUR=1000000", "QS_POLL_COMMANDS=1000000", "QS_MASS_CANCEL_MIN=1000000",
	}, with.settings...))
}

// start builds the program and starts it on a free port.
func (o *outside) start(ctx context.Context, folder string, environ []string) error {
	binary, err := process.Build(ctx, folder)
	if err != nil {
		return err
	}
	addr, err := process.FreeAddress()
	if err != nil {
		return err
	}
	o.server = process.New(binary, folder, addr, append(environ, "QS_ADDR="+addr, "QS_PUBLIC_URL=http://"+addr))
	return o.server.Start(ctx)
}

func (o *outside) close(ctx context.Context) (err error) {
	if o.server != nil {
		_, err = o.server.Stop()
	}
	for _, server := range []*httptest.Server{o.googleAt, o.discordAt} {
		if server != nil {
			server.CloseClientConnections()
			server.Close()
		}
	}
	if o.google != nil {
		err = errors.Join(err, o.google.Close(ctx))
	}
	return err
}

// seed writes people into a new data file, as their links leave them. Signed tokens are valid for the
// program, which has its key beside the file.
func (o *outside) seed(ctx context.Context, with beginning, sealing string) (err error) {
	key, err := signin.LoadOrCreateKey(filepath.Join(filepath.Dir(with.data), "signin.key"))
	if err != nil {
		return err
	}
	o.issuer, err = signin.NewLocal(signin.LocalOptions{Key: key, Now: time.Now})
	if err != nil {
		return err
	}
	o.tokens[byOperator], err = o.issuer.Issue(signin.Person{UID: operator}, 24*time.Hour)
	if err != nil || with.people == 0 {
		return err
	}
	keys, err := seal.ParseKeys(sealing)
	if err != nil {
		return err
	}
	documents, err := sqlite.Open(ctx, sqlite.Options{Path: with.data, Queries: accounts.Queries, Disposable: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, documents.Close()) }()
	links := discordlinks.Links{Store: documents, Now: time.Now}
	linked := accounts.New(accounts.Options{
		Store: documents, Keys: keys, Now: time.Now, NewID: func() string { return ulid.Make().String() },
	})
	for n := range with.people {
		code, _, err := links.Issue(ctx, discordlinks.User{ID: discordID(n), Username: uid(n)}, "seed-"+uid(n))
		if err == nil {
			_, err = links.Link(ctx, uid(n), code)
		}
		if err == nil && with.calendars {
			err = o.linkCalendar(ctx, linked, n)
		}
		if err == nil {
			o.tokens[n], err = o.issuer.Issue(signin.Person{UID: uid(n), Email: email(n), EmailVerified: true, Name: uid(n)}, 24*time.Hour)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// byOperator is the number of the operator among people.
const byOperator = -1

func uid(n int) string       { return fmt.Sprintf("person-%04d", n) }
func email(n int) string     { return uid(n) + "@bench.example" }
func discordID(n int) string { return strconv.Itoa(420000000000000000 + n) }
func channelID(n int) string { return strconv.Itoa(430000000000000000 + n) }

func (o *outside) linkCalendar(ctx context.Context, linked *accounts.Repository, n int) error {
	own, err := o.google.AddUser(google.User{Key: uid(n), Sub: "sub-" + uid(n), Email: email(n)})
	if err != nil {
		return err
	}
	o.calendarTokens[n] = own.AccessToken
	granted, err := o.google.NewGrant(uid(n))
	if err != nil {
		return err
	}
	who := accounts.Identity{Provider: accounts.Google, Sub: "sub-" + uid(n), Email: email(n)}
	_, err = linked.Link(ctx, uid(n), who, granted.RefreshToken, granted.Scopes)
	return err
}

// asked is a call of the program's API by a person.
type asked struct {
	by           int
	method, path string
	body         any
}

// call makes a call and reads the data of its answer into into, unless that is nil.
func (o *outside) call(ctx context.Context, ask asked, into any) error {
	var answer struct{ Data any }
	answer.Data = into
	said, err := good(o.server.HTTP, func() (*http.Request, error) {
		return request(ctx, ask.method, o.server.URL+ask.path, o.tokens[ask.by], ask.body)
	})
	if err == nil && into != nil {
		err = json.Unmarshal(said, &answer)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", ask.method, ask.path, err)
	}
	return nil
}

// request makes a request with a JSON body, or none, for the bearer of a token.
func request(ctx context.Context, method, address, bearer string, body any) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	made, err := http.NewRequestWithContext(ctx, method, address, content)
	if err != nil {
		return nil, err
	}
	made.Header.Set("Authorization", "Bearer "+bearer)
	made.Header.Set("Content-Type", "application/json")
	return made, nil
}

// good makes a request and reads its answer, which has to be a good one.
func good(by *http.Client, request func() (*http.Request, error)) ([]byte, error) {
	made, err := request()
	if err != nil {
		return nil, err
	}
	answer, err := by.Do(made)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was read
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode/100 != 2 {
		err = fmt.Errorf("answered %s: %s", answer.Status, said)
	}
	return said, err
}
