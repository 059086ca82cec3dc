package api_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"questscheduler/api"
	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/availability"
	"questscheduler/calendarsync"
	"questscheduler/demo/sim/google"
	"questscheduler/feed"
	"questscheduler/groupevents"
	linked "questscheduler/internal/accounts"
	"questscheduler/internal/bodylimit"
	"questscheduler/internal/calendars"
	"questscheduler/internal/discord"
	"questscheduler/internal/mirror"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/signin"
	"questscheduler/internal/store"
	"questscheduler/internal/store/changes"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/promises"
	"questscheduler/internal/test/wakes"
	"questscheduler/internal/test/worldtest"
	"questscheduler/mirrors"
	"questscheduler/notify"
	"questscheduler/operations/health"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// begin is when the clock of a world starts; each reading moves it on by a
// second, so that what is made later is later.
var begin = time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)

// world is the API over a real scheduler, store and queue, and who is in it.
type world struct {
	t        *testing.T
	echo     *echo.Echo
	url      string
	store    *countingStore
	closed   bool // the store
	shared   bool // by several tests
	changes  *changes.Store
	linked   *linked.Repository
	groups   groupWorld
	followed followed
	google   *google.Server
	grants   grants
	wakes    *wakes.Waker
	outbox   *outbox.Outbox
	freeBusy *freeBusy
	sheet    *sheet
	accounts *accounts
	calendar *calendar
	channels *channels
	signin   *signin.Local
	verifier *verifier
	ticks    ticks
	log      *logText
	ready    error
	promises promises.Document
	tokens   map[string]string
	options  api.Options
	kept     []*http.Cookie // of the browser that consents
	proxied  string         // the Authorization header that a proxy adds to what a browser sends
}

// setup is what a test may have otherwise.
type setup struct {
	patience        time.Duration // for bodies
	withoutMappings bool
	api.Options
}

// newWorld has gm, ana, ben, cho and eve, who knows nobody. Their e-mail
// addresses are UID@example.com and verified.
func newWorld(t *testing.T, changed ...func(*setup)) *world {
	t.Helper()
	w := &world{
		t: t, accounts: &accounts{}, calendar: newCalendar(), channels: &channels{guilds: map[string]string{"22": "1"}},
		freeBusy: &freeBusy{}, log: &logText{}, tokens: map[string]string{}, grants: grants{},
	}
	// Package testing keeps a test's clean-up functions until the process ends, and so all that they refer to.
	t.Cleanup(w.release)
	count := new(atomic.Int64)
	options := setup{patience: time.Minute, Options: api.Options{
		Now: newClock(), NewID: func(prefix string) string { return fmt.Sprintf("%s_%026d", prefix, count.Add(1)) },
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }, Ticks: w.ticks.start,
		Log: slog.New(slog.NewJSONHandler(w.log, nil)), Version: "test",
		Ready: func(context.Context) error { return w.ready },
	}}
	for _, change := range changed {
		change(&options)
	}
	w.openPorts(&options.Options)
	if options.withoutMappings {
		options.Mappings = nil
	}
	w.options = options.Options
	w.echo = api.New(options.Options)
	for _, uid := range []string{"gm", "ana", "ben", "cho", "eve"} {
		w.tokens[uid] = w.token(signin.Person{UID: uid, Email: uid + "@example.com", EmailVerified: true})
	}
	w.tokens["admin"] = w.token(signin.Person{UID: "admin", Admin: true})
	w.url = w.serve(bodylimit.Handler(w.echo, options.patience)).URL
	promised, err := documented()
	must(t, err)
	w.promises = promised
	t.Cleanup(w.replayEach)
	return w
}

// release lets go of everything that the world holds.
func (w *world) release() {
	if !w.shared {
		*w = world{}
	}
}

// documented is what the OpenAPI document says of answers: the same in every world.
var documented = sync.OnceValues(func() (promises.Document, error) {
	answered := httptest.NewRecorder()
	api.New(api.Options{
		Now: newClock(), NewID: func(prefix string) string { return prefix + "_1" }, Log: slog.New(slog.DiscardHandler), Version: "test",
	}).ServeHTTP(answered, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	return promises.Read(answered.Body.Bytes())
})

// replayEach demands at the end of every test that each poll is what its journal
// replays to.
func (w *world) replayEach() {
	w.t.Helper()
	if w.closed {
		return
	}
	problems, err := worldtest.ReplayEach(context.Background(), w.store.Store, w.options.Scheduler)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, problem := range problems {
		w.t.Errorf("at the end of the test %s", problem)
	}
}

// openPorts makes what stands behind the API.
func (w *world) openPorts(options *api.Options) {
	w.t.Helper()
	documents, err := memorystore.Open(slices.Concat(
		poll.Queries, calendars.Queries, calendarsync.Queries, notify.Queries, linked.Queries, mirror.Queries,
		availability.Queries, groupevents.Queries, attendees.Queries, mappings.Queries, api.Queries, []*store.Query{worldtest.AllPolls},
	))
	must(w.t, err)
	w.store = &countingStore{Store: documents}
	w.changes = changes.New(w.store)
	w.wakes = wakes.New(wakes.Options{Now: options.Now})
	key, err := signin.LoadOrCreateKey(filepath.Join(w.t.TempDir(), "key"))
	must(w.t, err)
	w.signin, err = signin.NewLocal(signin.LocalOptions{Key: key, Now: func() time.Time { return begin }})
	must(w.t, err)
	w.verifier = &verifier{Verifier: w.signin}
	if options.SignIn != nil {
		w.verifier.Verifier = options.SignIn
	}
	options.Store, options.Changes, options.SignIn = w.changes, w.changes, w.verifier
	w.outbox = &outbox.Outbox{Store: w.changes, Waker: w.wakes, Now: options.Now, Log: options.Log}
	options.Calendars = &calendarsync.Watcher{Store: w.changes, Outbox: w.outbox, Address: pushAddress, Now: options.Now, Log: options.Log}
	options.Work = w.outbox
	options.Accounts = w.openLinked(options)
	options.Mappings = w.openMappings(options)
	options.Health = &health.Reader{
		Store: w.changes, Now: options.Now, Recent: 7 * time.Hour, Address: pushAddress, Sync: "on", Work: w.outbox,
	}
	options.Availability = &availability.Service{Store: w.changes, Google: w.freeBusy, Now: options.Now, Recent: 7 * time.Hour}
	options.GroupEvents = w.openGroupEvents(options)
	w.outbox.Add(options.GroupEvents.Work(), w.groups.mirrors.PlanWork(), w.groups.mirrors.EventWork())
	options.Discord = discord.Links{Store: w.changes, Now: options.Now, Moves: true}
	options.Feeds = &feed.Service{Store: w.changes, Now: options.Now, URL: "https://api.party.example", AppURL: "https://party.example"}
	options.Policies, options.Events = mirrors.Policies{Service: w.groups.mirrors}, w.openEvents(options.Now)
	options.Scheduler = &scheduler.Service{
		Store: w.changes, Outbox: w.outbox, Accounts: w.accounts, Calendar: w.calendar, Watches: w.calendar, Channels: w.channels,
		Shares: groupevents.Shares, Now: options.Now,
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		IDs:  scheduler.IDs{UUID: uuid.NewString, ULID: options.NewID}, SnapshotKeep: time.Hour, Log: options.Log,
	}
	w.outbox.Add(options.Scheduler.Intents())
}

// closeStore closes the store, after which nothing can be read.
func (w *world) closeStore() {
	w.t.Helper()
	w.closed = true
	must(w.t, w.store.Close())
}

// serve answers requests until the test ends, and closes the open connections then.
func (w *world) serve(handler http.Handler) *httptest.Server {
	server := httptest.NewServer(handler)
	w.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		server.Config.Handler = nil
	})
	return server
}

func (w *world) token(person signin.Person) string {
	w.t.Helper()
	token, err := w.signin.Issue(person, time.Hour)
	must(w.t, err)
	return token
}

// newClock moves on by a second at each reading.
func newClock() func() time.Time {
	var readings atomic.Int64
	return func() time.Time { return begin.Add(time.Duration(readings.Add(1)) * time.Second) }
}

// stillClock stands until it is moved.
type stillClock struct{ at atomic.Pointer[time.Time] }

func newStillClock() *stillClock {
	c := &stillClock{}
	c.at.Store(&begin)
	return c
}

func (c *stillClock) now() time.Time { return *c.at.Load() }

func (c *stillClock) advance(d time.Duration) {
	later := c.now().Add(d)
	c.at.Store(&later)
}

// on has a world run by the clock.
func (c *stillClock) on(s *setup) { s.Now = c.now }

// ticks are those of streams: a test gives them.
type ticks struct {
	mu      sync.Mutex
	running map[time.Duration][]chan time.Time
}

func (k *ticks) start(every time.Duration) (<-chan time.Time, func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running == nil {
		k.running = map[time.Duration][]chan time.Time{}
	}
	ticker := make(chan time.Time)
	k.running[every] = append(k.running[every], ticker)
	return ticker, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.running[every] = slices.DeleteFunc(k.running[every], func(other chan time.Time) bool { return other == ticker })
	}
}

// tick gives one to each stream, and returns when all have taken theirs.
func (k *ticks) tick(every time.Duration) {
	k.mu.Lock()
	running := slices.Clone(k.running[every])
	k.mu.Unlock()
	for _, ticker := range running {
		ticker <- begin
	}
}

// accounts chooses gm's account unless it refuses.
type accounts struct {
	refuse func(ctx context.Context) error
}

func (a *accounts) Choose(ctx context.Context, _, _, _ string) (account, calendar string, err error) {
	if a.refuse != nil {
		err = a.refuse(ctx)
	}
	return "acc_gm", "gm@example.com", err
}

// logText keeps what is logged.
type logText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logText) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newGroup makes a group of gm's with ana.
func (w *world) newGroup() string { return w.newGroupOf("ana") }

// newGroupOf makes a group of gm's with others, who have accepted.
func (w *world) newGroupOf(people ...string) string {
	w.t.Helper()
	var made struct{ ID string }
	w.want(
		http.StatusCreated,
		call{as: "gm", method: "POST", path: "/v1/groups", body: map[string]any{"name": "The party", "member_ids": people}},
		&made,
	)
	w.joinGroup(made.ID, people...)
	return made.ID
}

// newNotification writes a notification as the announcer does, and gives its id.
func (w *world) newNotification(uid string) string {
	w.t.Helper()
	id := "dedupe:POLL_CANCELLED:" + uuid.NewString()
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(notify.NotificationPath(uid, id), map[string]any{
			"type": "POLL_CANCELLED", "title": "Cancelled", "body": "Session 12 was cancelled.", "actionUrl": "/scheduler/1",
			"resource": map[string]any{"type": "poll", "id": "1", "title": "Session 12"},
			"actor":    map[string]any{"uid": "ana", "email": "ana@example.com", "displayName": "Ana"},
			"read":     false, "dismissed": false, "createdAt": begin,
		})
	}))
	return id
}

// newDiscordCode is a code of a Discord user whom nobody is linked to.
func (w *world) newDiscordCode() string {
	w.t.Helper()
	links := discord.Links{Store: w.store, Now: func() time.Time { return begin }}
	user := discord.User{ID: strconv.FormatUint(uint64(rand.Uint32()), 10), Username: "somebody"}
	code, _, err := links.Issue(w.t.Context(), user, uuid.NewString())
	must(w.t, err)
	return code
}

// newCalendar writes a calendar that a person linked, and gives its key.
func (w *world) newCalendar(uid string) string {
	w.t.Helper()
	key := poll.CalendarKey("acc_"+uid, uid+"@example.com")
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Merge(calendars.Path(key), poll.Set("accountId", "acc_"+uid), poll.Set("calendarId", uid+"@example.com"),
			poll.Set("ownerId", uid))
	}))
	return key
}

// pushAddress is where Google is to push.
const pushAddress = "https://qs.example/webhooks/google/calendar"

// newFollowed links an account for a person, with a calendar that a poll follows,
// that is watched and was just read, and gives the account's id.
func (w *world) newFollowed(uid string) string {
	w.t.Helper()
	id, calendarID := w.newAccount(uid), uid+"@example.com"
	key := poll.CalendarKey(id, calendarID)
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return errors.Join(
			tx.Merge(calendars.Path(key), poll.Set("accountId", id), poll.Set("calendarId", calendarID), poll.Set("ownerId", uid),
				poll.Set("interests", map[string]any{poll.ConsumerPoll: 1}),
				poll.Set("lastSyncedAt", begin), poll.Set("lastSuccessAt", begin)),
			tx.Set(store.Doc("calendarWatches", "channel-of-"+uid), map[string]any{
				"calendarKey": key, "status": string(calendarsync.Active), "address": pushAddress, "expiration": begin.AddDate(0, 0, 7),
			}))
	}))
	return id
}

// newFailingWork has the work of a group fail again and again, and gives its id.
func (w *world) newFailingWork() string {
	w.t.Helper()
	return w.newFailingWorkOf(uuid.NewString())
}

// newFailingWorkOf does so for a group's id.
func (w *world) newFailingWorkOf(id string) string {
	w.t.Helper()
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Create(poll.GroupWorkPath(id), map[string]any{
			"due": w.options.Now().Add(8 * time.Hour), "ref": "1", "attempts": 9, "failedSince": begin, "error": "provider",
		})
	}))
	return poll.GroupWorkKind + ":" + id
}

// newAnnouncement writes an announcement of a cancelled poll.
func (w *world) newAnnouncement(pollID string) {
	w.t.Helper()
	announced := poll.Message{Ref: "jrn_announced", State: rules.AnnouncedState{Status: rules.Cancelled}, At: begin}
	must(w.t, w.store.Run(w.t.Context(), func(_ context.Context, tx store.Tx) error {
		return tx.Merge(poll.AnnouncementPath(pollID), poll.KnownUpdates(pollID, announced)...)
	}))
}

// waiting counts the entries that were woken.
func (w *world) waiting() int { return w.wakes.Waiting("") }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
