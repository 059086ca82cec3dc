// Package worldtest is a small world for the tests of everything above the ports:
// the real service, sync runs, watch channels and announcements over the
// memory store (every transaction's function runs twice), the memory queue and
// the Google simulator, with one clock that moves by hand.
//
// Nothing runs on its own. A test does something, then lets the world go on by
// RunDue or Run; nothing runs beside anything else and nothing waits, so the
// same test gives the same history. What happens between two calls of the
// program is in the test's hand too: On runs something right before or after any
// call that leaves the program, Crash ends the program there, and AtOnce runs
// several operations concurrently, each from such a point to the next when it gets
// its turn. They are coroutines (iter.Pull) and not goroutines with a baton in
// a bubble of testing/synctest: a switch costs a tenth of a microsecond, and the
// clock stays the world's own, which the simulator and the queue share.
package worldtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
	"questscheduler/demo/sim/google"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/calendars"
	discordlinks "questscheduler/internal/discord"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/audit"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
	"questscheduler/internal/test/wakes"
	"questscheduler/notify"
)

// TB is what the world needs of a test; *testing.T and *rapid.T have it.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// Start is when every world begins: a Sunday, days before the sessions.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// The settings that a world runs with where Options say nothing.
const (
	MinGap = time.Second
	Settle = 10 * time.Second
	// pageSize is that of a world whose Options name none.
	pageSize = 3
)

const (
	googleURL   = "http://google.sim"
	pushAddress = "https://quests.example/webhooks/google/calendar"
)

// Options are what may differ between worlds.
type Options struct {
	// Draw gives an integer from 0 to n-1; nil always gives n-1, which frees no
	// wake's name ever and lets every wait be the longest.
	Draw func(n int) int
	// NoPushes gives the watcher no address, so that there are no channels.
	NoPushes bool
	// Open opens the documents for the queries that they will be asked; nil is
	// internal/test/memorystore. Who opens them closes them.
	Open func(queries []*store.Query) (store.Store, error)
	// Shared has internal/test/memorystore give what it keeps and not copies of it, which is
	// most of its work. TouchedProblems reports changes of it.
	Shared bool
	// Queries are those that the documents will be asked beside the program's.
	Queries []*store.Query
	// Wrap wraps the documents; nil is storetest.Rerun. A counter of
	// operations takes its place, or Contended.
	Wrap func(store.Store) store.Store
	// PageSize is how many events a page of a listing has; 0 is three, so that
	// listings have several pages.
	PageSize int
	// Instances is how many of the program there are at a time, over the same
	// documents and tasks; 0 is one.
	Instances int
	// Alone: the one program has the documents to itself, so that it claims and is woken in
	// memory, and what it forgot is found by the drain.
	Alone bool
	// Skew gives how far the clock of an instance is from everybody else's, when
	// it starts; nil: not at all.
	Skew func() time.Duration
	// Consumers are the consumers of calendars beside polls.
	Consumers []*Consumer
	// Delegated: the program has the key of a service account with domain-wide delegation
	// for example.com (Delegate).
	Delegated bool
	// Mirrored are those of Others whose accounts cho links: such a world has mirroring.
	Mirrored []string
	// Grouped: there are Players. It goes with Mirrored.
	Grouped bool
	// Attended: there are Colleagues, and the program invites their second addresses, unless
	// AttendeesOff. It acts for them by a service account with Delegated, else by accounts
	// that they link.
	Attended, AttendeesOff bool
	// Pressed: People are linked to users of Discord, who press (NewPress). Discord itself need not
	// be there.
	Pressed bool
	Settings
}

// World is the program with everything around it.
type World struct {
	t       TB
	ctx     context.Context
	options Options
	// Clock is everybody's but that of a program with Options.Skew, and moves by
	// Run alone.
	Clock *control.Clock
	// Google is the simulator; its Control plants faults and counts calls.
	Google *google.Server
	// Discord is the simulator, or nil where the world has none.
	Discord *discord.Server
	// Wakes and Documents outlive the program; Restart keeps them.
	Wakes     *wakes.Waker
	Documents store.Store

	// The program that does what is done next, one of instances, which Restart
	// makes anew.
	*Program
	instances []*Program
	// skewed: an instance had a wrong clock, now or before.
	skewed bool

	ports ports
	// running is the operation that has the baton, nil while the test has it; test
	// is the state that the test put away then.
	running *operation
	test    held
	// observing: the program is started with QS_SYNC=observe.
	observing bool
	// keeping: what is done now leaves events in the calendar, as asked.
	keeping bool
	// stopping: the program is to stop all its watch channels (StopChannels).
	stopping bool
	// pressing is the press that is carried out now; nil: none.
	pressing *Press
	presses  pressed
	// deadlines are those of requests that wait for an answer.
	deadlines []*deadline
	// following: what became of an account is carried on.
	following bool
	died      *crashed // over a push
	// delivering are pushes on their way: a test may let the world go on during
	// one.
	delivering map[int64]bool
	log        bytes.Buffer
	// browsers are people's own access to their calendars, and own counts the
	// calls that they made by it.
	browsers map[string]google.Grant
	// Sheet is where the mappings of second addresses are kept; mapped and guestbooks follow
	// what they ask for.
	Sheet      Sheet
	mapped     mapped
	guestbooks guestbooks
	tries      tries
	// delegationEnded: the service account of Options.Delegated may act for nobody now.
	delegationEnded bool
	// linked are the accounts of mirroring, by whose calendar they have.
	linked map[string]string
	own    map[string]int
	// listed are people's calendars as Events last saw them.
	listed map[string]listing
	// released are events that were left in the calendar as asked.
	released map[string]bool
	// club is what gm may do in the club's calendar now.
	club    Role
	commits commits
	past    past
	// picture is what the invariants are checked on, and observed is Documents,
	// which tells what has changed.
	picture  *picture
	observed *observed
	shared   *memorystore.Store // see Options.Shared
	// mirrors and canonical are the documents of mirroring as they were last read.
	mirrors   versions[mirror.Mirror]
	canonical versions[mirror.Event]
	ids       int
	meter     meter
	// secrets are the tokens of watch channels, in the order in which they were made.
	secrets []string
	// Verdicts tell, oldest first, the runs of tasks that did not end well.
	Verdicts []string
}

// New makes a world of four people (People), of whom gm and ana have linked
// their Google accounts.
func New(t TB, options Options) *World {
	t.Helper()
	w := &World{
		t: t, ctx: context.Background(), options: options, browsers: map[string]google.Grant{}, linked: map[string]string{},
		own: map[string]int{}, listed: map[string]listing{}, released: map[string]bool{}, commits: newCommits(), past: newPast(),
		mapped: newMapped(), guestbooks: newGuestbooks(),
		mirrors: versioned(mirror.Decode), canonical: versioned(mirror.DecodeEvent),
	}
	if w.options.Draw == nil {
		w.options.Draw = func(n int) int { return n - 1 }
	}
	if w.options.Wrap == nil {
		w.options.Wrap = storetest.Rerun
	}
	w.options.Settings = options.filled()
	w.meter.begin()
	w.delivering = map[int64]bool{}
	w.picture = newPicture(w)
	w.ports.world = w
	w.Clock = control.NewClock(func() time.Time { return Start })
	w.openPorts()
	w.openPresses()
	w.wire()
	for _, person := range People {
		grant, err := w.Google.AddUser(google.User{Key: person.ID, Sub: "sub-" + person.ID, Email: person.Email, TimeZone: zone})
		w.must(err)
		w.browsers[person.ID] = grant
	}
	w.openClub()
	w.Link("gm")
	w.Link("ana")
	w.openMirrored()
	w.openGrouped()
	w.openAttended()
	w.openPressed()
	w.replayAtTheEnd()
	return w
}

// openPorts makes what outlives the program.
func (w *World) openPorts() {
	queries := slices.Concat(
		poll.Queries, discordlinks.Queries, calendars.Queries, accounts.Queries, calendarsync.Queries, notify.Queries, mirror.Queries,
		groupevents.Queries, inspections(), mirrorInspections, attendees.Queries, mappings.Queries, attendeeInspections,
		[]*store.Query{allConsumerEvents, eventsOfCalendar}, audit.Queries, w.options.Queries,
	)
	open := w.options.Open
	if open == nil {
		open = w.openMemory
	}
	documents, err := open(queries)
	w.must(err)
	w.observed = observe(w, w.options.Wrap(documents), documents)
	w.Documents = w.observed
	w.Wakes = wakes.New(wakes.Options{Now: w.Clock.Now, Rand: w.options.Draw, Alone: w.options.Alone})
	w.Google, err = google.New(google.Options{
		Clock: w.Clock, NewID: w.uuid, Sequential: true,
		PushClient: &http.Client{Transport: control.Transport(http.HandlerFunc(w.receivePush))},
	})
	w.must(err)
	w.LimitGrants(0)
	w.openDiscord()
}

func (w *World) openMemory(queries []*store.Query) (store.Store, error) {
	if !w.options.Shared {
		return memorystore.Open(queries)
	}
	var err error
	w.shared, err = memorystore.OpenShared(queries)
	return w.shared, err
}

// Restart is the death of the program and the start of another over the same
// documents and tasks, as the embedded one starts: the new one takes back the
// leases of the dead one and enqueues its pending work.
func (w *World) Restart() {
	w.t.Helper()
	w.TakeOver()
	w.must(w.Scheduler.Recover(w.ctx))
	_, err := w.Outbox.Drain(w.ctx)
	w.must(err)
	if err := w.RenewAll("start"); err != nil {
		w.t.Logf("at the start not every calendar could be watched: %v", err)
	}
}

// TakeOver is the death of the program while others like it live on: nothing is
// taken back, what the dead one held runs out.
func (w *World) TakeOver() {
	w.t.Helper()
	w.ports.calm()
	w.Wakes.Crash()
	w.wire()
}

// Context is that of everything a test does.
func (w *World) Context() context.Context { return w.ctx }

// Log is what the program has logged so far.
func (w *World) Log() string { return w.log.String() }

func (w *World) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("unexpected error: %v", err)
	}
}

// uuid and ulid give ids that grow and have the form of real ones.
func (w *World) uuid() string {
	w.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", w.ids)
}

func (w *World) ulid(now time.Time) string {
	w.ids++
	return fmt.Sprintf("%013d%013d", now.UnixMilli(), w.ids)
}
