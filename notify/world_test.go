package notify_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/demo/sim/discord"
	"questscheduler/internal/outbox"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/storetest"
	"questscheduler/notify"
	"questscheduler/rules"
)

const (
	token     = "token-of-the-bot"
	guildID   = "700000000000000001"
	channel   = "700000000000000002"
	elsewhere = "700000000000000003"
	roleID    = "700000000000000004"
	pollID    = "7f3c1c52-8b5e-4f6e-9d6a-1f2e3d4c5b6a"
	groupID   = "group-1"
	appURL    = "https://quests.example"
)

// The times of the session: original is the chosen slot's, moved and movedOn
// are what the calendar makes of it.
var (
	original = fingerprint("2027-02-02T18:00:00Z", "2027-02-02T21:00:00Z")
	moved    = fingerprint("2027-02-03T19:30:00Z", "2027-02-03T22:30:00Z")
	movedOn  = fingerprint("2027-02-04T19:30:00Z", "2027-02-04T22:30:00Z")
)

func fingerprint(start, end string) rules.Fingerprint {
	return rules.Timed(at(start), at(end))
}

func at(text string) time.Time {
	moment, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return moment
}

// clock moves by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// world is a store, a Discord with one guild and two channels, and a poll of a
// party of four: gm made it and takes part with ana; ben and cho are in the
// group.
type world struct {
	t         *testing.T
	clock     *clock
	documents store.Store // without the reruns of store
	store     store.Store
	discord   *discord.Server
	onDiscord *notify.Discord
	announcer *notify.Announcer
	refs      int
	changes   int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clock: &clock{now: at("2027-01-10T12:00:00Z")}}
	documents, err := memorystore.Open(slices.Concat(poll.Queries, notify.Queries))
	if err != nil {
		t.Fatal(err)
	}
	w.documents, w.store = documents, storetest.Rerun(documents)
	w.discord, err = discord.New(discord.Options{Now: w.clock.Now, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(w.discord.Handler())
	t.Cleanup(web.Close)
	client, err := notify.NewDiscordClient(token, web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	w.onDiscord = &notify.Discord{AppURL: appURL + "/", Cards: true, Votes: true, Now: w.clock.Now, Log: log}
	w.announcer = &notify.Announcer{Now: w.clock.Now, Log: log}
	w.announcer, w.onDiscord = w.around(w.store, client)
	w.seed()
	return w
}

// around is the world's announcer with another store and another Discord.
func (w *world) around(documents store.Store, client notify.DiscordAPI) (*notify.Announcer, *notify.Discord) {
	a, d := *w.announcer, *w.onDiscord
	a.Store, d.Store, d.API = documents, documents, client
	a.Channels = []notify.Channel{&notify.InApp{Store: documents, Now: w.clock.Now, AppURL: appURL + "/"}, &d}
	return &a, &d
}

func (w *world) seed() {
	w.t.Helper()
	if err := w.discord.AddGuild(guildID, "Party"); err != nil {
		w.t.Fatal(err)
	}
	for _, id := range []string{channel, elsewhere} {
		if err := w.discord.AddChannel(discord.Channel{ID: id, GuildID: guildID}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.write(func(tx store.Tx) error {
		p := poll.New(poll.Poll{
			ID: pollID, Title: "Curse of Strahd", CreatorID: "gm", CreatorEmail: "gm@example.com",
			ParticipantIDs: []string{"gm", "ana"}, Timezone: "Europe/Berlin", GroupID: groupID, GroupName: "Party",
			CreatedAt: w.clock.Now(),
		})
		p["timezoneMode"] = "fixed" // a field that is none of ours
		p["discord"] = map[string]any{"foreign": "kept"}
		group := poll.Group{
			Name: "Party", MemberIDs: []string{"gm", "ben", "cho"},
			Discord: poll.GroupDiscord{GuildID: guildID, ChannelID: channel},
		}
		return first(
			tx.Create(poll.Path(pollID), p),
			tx.Create(poll.SlotPath(pollID, "s1"), poll.EncodeSlot(poll.Slot{Start: original.StartTime(), End: original.EndTime()})),
			tx.Create(poll.SlotPath(pollID, "s2"), poll.EncodeSlot(poll.Slot{Start: at("2027-02-09T18:00:00Z"), End: at("2027-02-09T21:00:00Z")})),
			tx.Merge(poll.VotePath(pollID, "ana"), poll.VoteUpdates(poll.Vote{UserID: "ana", Choices: map[string]string{"s1": poll.Preferred}})...),
			tx.Merge(poll.GroupPath(groupID), poll.GroupUpdates(group)...),
			tx.Create(store.Doc("users", "gm"), map[string]any{"email": "gm@example.com", "displayName": "The GM"}),
		)
	})
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) write(fn func(tx store.Tx) error) {
	w.t.Helper()
	err := w.store.Run(context.Background(), func(_ context.Context, tx store.Tx) error { return fn(tx) })
	if err != nil {
		w.t.Fatal(err)
	}
}

// set writes fields of the poll.
func (w *world) set(updates ...store.Update) {
	w.t.Helper()
	w.write(func(tx store.Tx) error { return tx.Update(poll.Path(pollID), updates...) })
}

// setGroup writes a field of the group's discord.
func (w *world) setGroup(name string, value any) {
	w.t.Helper()
	w.write(func(tx store.Tx) error {
		return tx.Update(poll.GroupPath(groupID), store.Update{Path: store.Field("discord", name), Value: value})
	})
}

// setSlot writes a field of a slot.
func (w *world) setSlot(id, name string, value any) {
	w.t.Helper()
	w.write(func(tx store.Tx) error { return tx.Update(poll.SlotPath(pollID, id), poll.Set(name, value)) })
}

// want makes the poll's present state pending, due after rest, as a transition's
// transaction does. It returns the ref.
func (w *world) want(actor string, rest time.Duration) string {
	w.t.Helper()
	w.refs++
	ref := "jrn_" + string(rune('a'+w.refs-1))
	ctx := context.Background()
	p, err := poll.Load(ctx, w.store, pollID)
	if err != nil {
		w.t.Fatal(err)
	}
	winning, err := poll.LoadSlot(ctx, w.store, pollID, p.WinningSlotID)
	if err != nil {
		w.t.Fatal(err)
	}
	state := poll.Message{Ref: ref, State: p.AnnouncedState(winning), Actor: actor, Trace: "trace-1", At: w.clock.Now()}
	w.write(func(tx store.Tx) error {
		return tx.Merge(poll.AnnouncementPath(pollID), poll.PendingUpdates(pollID, state, w.clock.Now().Add(rest))...)
	})
	return ref
}

// voteOf is somebody's vote for a slot, or without a choice.
func voteOf(uid, slot string) func(store.Tx) error {
	vote := poll.Vote{UserID: uid, Choices: map[string]string{}}
	if slot != "" {
		vote.Choices[slot] = poll.Feasible
	}
	return func(tx store.Tx) error { return tx.Merge(poll.VotePath(pollID, uid), poll.VoteUpdates(vote)...) }
}

// The transitions, as far as cards and messages show them.

func (w *world) finalise() {
	w.t.Helper()
	w.set(poll.Set("status", "FINALIZED"), poll.Set("winningSlotId", "s1"),
		store.Update{Path: poll.SyncField("state"), Value: "OK"}, store.Update{Path: poll.SyncField("generation"), Value: 1})
}

func (w *world) move(to rules.Fingerprint) {
	w.t.Helper()
	w.write(func(tx store.Tx) error {
		return first(
			tx.Set(poll.SlotPath(pollID, "c1"), poll.EncodeSlot(poll.SlotAt("c1", to))),
			tx.Update(poll.Path(pollID), poll.Set("winningSlotId", "c1"), store.Update{Path: poll.SyncField("state"), Value: "RESCHEDULED"},
				store.Update{
					Path:  poll.SyncField("rescheduled"),
					Value: map[string]any{"fromSlotId": "s1", "toSlotId": "c1", "snapshotId": "x", "at": w.clock.Now()},
				}),
		)
	})
}

func (w *world) restore() {
	w.t.Helper()
	w.write(func(tx store.Tx) error {
		return first(
			tx.Delete(poll.SlotPath(pollID, "c1")),
			tx.Update(
				poll.Path(pollID), poll.Set("winningSlotId", "s1"), store.Update{Path: poll.SyncField("state"), Value: "OK"},
				store.Update{Path: poll.SyncField("rescheduled"), Value: store.Delete},
			),
		)
	})
}

func (w *world) cancel() {
	w.t.Helper()
	w.set(poll.Set("status", "CANCELLED"), store.Update{Path: poll.SyncField("state"), Value: "CANCELLED"})
}

// revive takes the cancellation back.
func (w *world) revive() {
	w.t.Helper()
	w.set(poll.Set("status", "FINALIZED"), store.Update{Path: poll.SyncField("state"), Value: "OK"})
}

// announced is a world whose poll is finalised, which was announced.
func announced(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.finalise()
	w.want("gm", 0)
	w.mustEnd()
	return w
}

// runResult is what came of a run, and when it is wanted again.
type runResult struct {
	Outcome runOutcome
	After   time.Duration
	Err     error
}

type runOutcome uint8

const (
	runFailed runOutcome = iota // the work is due again
	runDone
	runLater
)

// run runs the poll's work once.
func (w *world) run() runResult {
	w.t.Helper()
	return runTask(w.announcer)
}

// runTask runs the poll's work.
func runTask(a *notify.Announcer) runResult { return runID(a, pollID) }

func runID(a *notify.Announcer, id string) runResult {
	failed := false
	work := outbox.Outbox{
		Store: a.Store, Now: a.Now, Log: a.Log,
		Meter: func(event any) { failed = event.(outbox.Ran).Outcome.String() == "failed" },
	}
	work.Add(a.Work())
	again, err := work.Run(context.Background(), poll.AnnounceKind, id)
	switch after := again.Sub(a.Now()); {
	case err != nil:
		return runResult{Err: err}
	case failed:
		return runResult{After: after}
	case again.IsZero():
		return runResult{Outcome: runDone}
	default:
		return runResult{Outcome: runLater, After: after}
	}
}

// mustEnd runs the work once and wants it done.
func (w *world) mustEnd() {
	w.t.Helper()
	if verdict := w.run(); verdict.Outcome != runDone {
		w.t.Fatalf("the run ends as %+v", verdict)
	}
}

// checkCard has the card compared with the poll, as a document change does.
func (w *world) checkCard() {
	w.t.Helper()
	w.makeCardPending()
	w.mustEnd()
}

// toTheEnd runs the work as the drain would, until nothing is pending.
func (w *world) toTheEnd() {
	w.t.Helper()
	for range 10 {
		w.run()
		a := w.announcement()
		if a.Due.IsZero() && !a.CardPending() {
			return
		}
		next := a.Due
		if a.AgainAt.After(next) {
			next = a.AgainAt
		}
		w.clock.add(max(next.Sub(w.clock.Now()), time.Second))
	}
	w.t.Fatal("the work does not end")
}

func (w *world) poll() poll.Poll {
	w.t.Helper()
	p, err := poll.Load(context.Background(), w.store, pollID)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) announcement() poll.Announcement {
	w.t.Helper()
	a, err := poll.LoadAnnouncement(context.Background(), w.store, pollID)
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// bell lists the texts of a person's notifications, oldest first.
func (w *world) bell(uid string) []string {
	w.t.Helper()
	list, _, err := notify.List(context.Background(), w.store, uid, store.Paging{Limit: 0})
	if err != nil {
		w.t.Fatal(err)
	}
	var bodies []string
	for _, n := range slices.Backward(list) {
		bodies = append(bodies, n.Body)
	}
	return bodies
}

// messages are those on transitions in a channel, cards its cards.
func (w *world) messages(in string) []discord.Message {
	return slices.DeleteFunc(w.discord.Messages(in), func(m discord.Message) bool { return len(m.Embeds) > 0 })
}

func (w *world) cards(in string) []discord.Message {
	return slices.DeleteFunc(w.discord.Messages(in), func(m discord.Message) bool { return len(m.Embeds) == 0 })
}

func (w *world) plant(rule control.Rule) {
	w.t.Helper()
	if err := w.discord.Control().Plant(rule); err != nil {
		w.t.Fatal(err)
	}
}

// contents are the texts of messages.
func contents(messages []discord.Message) []string {
	var texts []string
	for _, m := range messages {
		texts = append(texts, m.Content)
	}
	return texts
}

// field reads a field of the one card's embed.
func (w *world) field(name string) string {
	w.t.Helper()
	cards := w.cards(channel)
	if len(cards) != 1 {
		w.t.Fatalf("%d cards", len(cards))
	}
	var embed struct {
		Fields []struct{ Name, Value string }
	}
	if err := json.Unmarshal(cards[0].Embeds[0], &embed); err != nil {
		w.t.Fatal(err)
	}
	for _, f := range embed.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func wantTexts(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// The messages on the transitions of this world, in their order.
const (
	plannedMessage = "It was planned for <t:1801591200:F>."
	movedMessage   = "@everyone Session 'Curse of Strahd' has been rescheduled to <t:1801683000:F>: " + movedDistance + plannedMessage
	movedOnMessage = "@everyone Session 'Curse of Strahd' has been rescheduled to <t:1801769400:F>: 2 days later, and 1 hour " +
		"30 minutes later in the day. " + plannedMessage

	restoredMessage = "Session 'Curse of Strahd' has been restored to <t:1801591200:F>, its original time. <t:1801683000:F> " +
		"is no longer valid."
	cancelledMessage = "@everyone Session 'Curse of Strahd' has been cancelled. " + plannedMessage
	onAgainMessage   = "@everyone Session 'Curse of Strahd' is on again for <t:1801591200:F>"

	movedDistance = "a day later, and 1 hour 30 minutes later in the day. "
	plannedTime   = "Tuesday, 2 February 2027, 19:00 (Europe/Berlin)"
	movedTime     = "Wednesday, 3 February 2027, 20:30 (Europe/Berlin)"
	movedBody     = "Session 'Curse of Strahd' has been rescheduled to " + movedTime + ": " + movedDistance +
		"It was planned for " + plannedTime + "."
	restoredBody = "Session 'Curse of Strahd' has been restored to its original time, " + plannedTime + ". " + movedTime +
		" is no longer valid."
	cancelledBody = "Session 'Curse of Strahd' has been cancelled. It was planned for " + plannedTime + "."
	onAgainBody   = "Session 'Curse of Strahd' is on again for " + plannedTime
)
