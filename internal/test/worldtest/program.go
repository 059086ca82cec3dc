package worldtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"iter"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"questscheduler/attendees"
	"questscheduler/attendees/mappings"
	"questscheduler/calendarsync"
	"questscheduler/groupevents"
	"questscheduler/internal/accounts"
	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/gcal"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/mirrors"
	"questscheduler/notify"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// Program is one instance of what is tested. What it keeps in memory is its own.
type Program struct {
	Accounts  *accounts.Repository
	Scheduler *scheduler.Service
	Syncer    *calendarsync.Syncer
	Links     *calendarsync.Links
	Watcher   *calendarsync.Watcher
	Lookup    *calendarsync.Lookup
	Announcer *notify.Announcer
	Health    *health.Reader
	Timers    *timers.Timers
	Groups    *groupevents.Service
	// Mirrors and Writer are nil in a world without mirroring.
	Mirrors *mirrors.Service
	Writer  *mirrors.Writer
	// Attendees and Mappings are nil in a world without second addresses.
	Attendees *attendees.Service
	Mappings  *mappings.Service
	Outbox    *outbox.Outbox
	// desk takes presses; nil in a world without them.
	desk http.Handler
	// jobsDue are the records of the timers' jobs that are due.
	jobsDue func(ctx context.Context, reader store.Reader, now time.Time) iter.Seq2[store.Document, error]
	// runs are the runs of an entry, by kind.
	runs map[string]run
	skew time.Duration
}

// wire makes the program over the ports.
func (w *World) wire() {
	w.instances = nil
	for range max(1, w.options.Instances) {
		w.instances = append(w.instances, w.program())
	}
	w.Program = w.instances[0]
}

// Use has another instance, counted from 0 on, do what is done next; among
// concurrent operations, for this operation alone.
func (w *World) Use(instance int) { w.Program = w.instances[instance] }

// Skews are how far the instances' clocks are from everybody else's.
func (w *World) Skews() (skews []time.Duration) {
	for _, p := range w.instances {
		skews = append(skews, p.skew)
	}
	return skews
}

// Observe restarts the program with QS_SYNC=observe, or with on.
func (w *World) Observe(observing bool) {
	w.t.Helper()
	w.observing = observing
	w.Restart()
}

// SetClocks sets the instances' clocks right, while they run.
func (w *World) SetClocks() {
	for _, p := range w.instances {
		p.skew = 0
	}
}

func (w *World) program() *Program {
	p := &Program{}
	if w.options.Skew != nil {
		p.skew = w.options.Skew()
		w.skewed = w.skewed || p.skew != 0
	}
	now := func() time.Time { return w.Clock.Now().Add(p.skew) }
	documents := &storePort{&judged{w.Documents, w}, &w.ports}
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	p.Outbox = &outbox.Outbox{Store: documents, Waker: &wakerPort{w.Wakes, &w.ports}, Now: now, Log: log, Alone: w.options.Alone}
	keys, err := seal.ParseKeys(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	w.must(err)
	transport := w.transport()
	p.Accounts = accounts.New(accounts.Options{Store: w.Documents, Keys: keys, Now: now, NewID: func() string { return w.ulid(now()) }})
	grants := accounts.NewGrants(accounts.GrantOptions{
		Accounts: p.Accounts, ClientID: "client", ClientSecret: clientSecret + "sim", TokenURL: googleURL + "/token",
		RevokeURL: googleURL + "/revoke", Transport: transport, Now: now,
		Delegation: w.delegation(),
	})
	client := gcal.New(gcal.Options{
		Endpoint: googleURL, Client: grants.Client, Refused: grants.Refused, Now: now,
		PageSize: cmp.Or(w.options.PageSize, pageSize),
	})
	calendar := &googlePort{client: &restrained{client, w}, ports: &w.ports}
	p.Watcher = &calendarsync.Watcher{
		Store: documents, Outbox: p.Outbox, Google: calendar, Now: now, NewUUID: w.uuid, Tokens: w.channelTokens(),
		Address: pushAddress, TTL: w.options.TTL, RenewBefore: w.options.RenewBefore, Alone: w.options.Alone, Log: log,
	}
	if w.options.NoPushes {
		p.Watcher.Address = ""
	}
	lists := calendarsync.Calendars{Accounts: p.Accounts, List: calendar.Calendars}
	elsewhere := &calendarsync.MoveFinder{Store: documents, Accounts: p.Accounts, Google: calendar, Calendars: lists, Now: now}
	p.Lookup = &calendarsync.Lookup{Accounts: p.Accounts, Calendars: lists, Now: now}
	p.Scheduler = &scheduler.Service{
		Store: documents, Outbox: p.Outbox, Calendar: calendarsync.Events{Google: calendar, MoveFinder: elsewhere},
		Accounts: p.Lookup, Watches: p.Watcher,
		Channels: channels{}, Shares: groupevents.Shares, Now: now, Wait: w.wait,
		IDs:    scheduler.IDs{UUID: w.uuid, ULID: func(prefix string) string { return prefix + "_" + w.ulid(now()) }},
		Settle: w.options.Settle, AppNoticeDelay: w.options.AppNoticeDelay, SnapshotKeep: w.options.SnapshotKeep, Log: log,
	}
	p.Outbox.Add(p.Scheduler.Intents())
	p.Watcher.Polls = p.Scheduler
	inApp := &notify.InApp{Store: documents, Now: now, AppURL: appURL}
	p.Announcer = &notify.Announcer{Store: documents, Now: now, Channels: []notify.Channel{inApp}, PerHour: w.options.NoticesPerHour, Log: log}
	if client := w.discordClient(); client != nil {
		onDiscord := &notify.Discord{API: client, Store: documents, Now: now, AppURL: appURL, Cards: true, Votes: true, Log: log}
		p.Announcer.Channels = append(p.Announcer.Channels, onDiscord)
	}
	p.Announcer.Repair = func(ctx context.Context, pollID, trace string) error {
		_, err := p.Watcher.Polls.Reconcile(ctx, pollID, scheduler.Cause{Trigger: "announcement", Trace: trace})
		return err
	}
	p.Outbox.Add(p.Announcer.Work())
	p.Syncer = &calendarsync.Syncer{
		Store: documents, Google: calendar, MoveFinder: elsewhere, Polls: p.Scheduler, Owners: notify.Owners{InApp: inApp, Occasion: p.occasion},
		Consumers: w.consumers(documents), Now: now, MinGap: w.options.MinGap, HoldShare: w.options.HoldShare,
		HoldMin: w.options.HoldMin, Log: log,
	}
	leaving := gcal.New(gcal.Options{Endpoint: googleURL, Client: grants.Leaving, Now: now})
	p.Links = &calendarsync.Links{
		Store: documents, Accounts: p.Accounts, Grants: grants, Leaving: &googlePort{client: leaving, ports: &w.ports, leaving: true},
		Watcher: p.Watcher, Polls: p.Scheduler, Owners: p.Syncer.Owners.(notify.Owners), Now: now, Log: log,
	}
	w.wireMirrors(p, documents, client, leaving, now, log)
	if w.observing {
		observer := scheduler.Observer{Service: p.Scheduler}
		p.Watcher.Polls, p.Watcher.Observing = observer, true
		p.Syncer.Polls, p.Syncer.Observing, p.Syncer.Owners = observer, true, calendarsync.SilentOwners{}
		p.Links.Polls, p.Links.Owners = observer, calendarsync.SilentOwners{}
	}
	p.Health = &health.Reader{Store: documents, Now: now, Recent: 7 * time.Hour, Address: p.Watcher.Address}
	w.wireAttendees(p, documents, client, now, log)
	w.wireGroups(p, documents, now, log)
	w.wireListeners(p)
	w.wireTimers(p, documents, now, log)
	if w.options.Pressed {
		p.desk = w.newDesk(p, documents, now, log)
	}
	p.Outbox.Add(p.Links.Work(), p.Syncer.Work(), p.Watcher.Sweeps(), p.Watcher.Channels())
	p.runs = map[string]run{}
	for _, kind := range p.Outbox.Kinds() {
		p.runs[kind] = func(ctx context.Context, id string) (time.Time, error) {
			return p.everybodys(p.Outbox.Run(ctx, kind, id))
		}
	}
	p.runs[calendarsync.LinkKind] = w.followLater(p.runs[calendarsync.LinkKind])
	return p
}

// everybodys is a time by the program's clock as everybody else's clock has it.
func (p *Program) everybodys(at time.Time, err error) (time.Time, error) {
	if !at.IsZero() {
		at = at.Add(-p.skew)
	}
	return at, err
}

// occasion tells one failing of an account from the next by its grant.
func (p *Program) occasion(ctx context.Context, accountID string) (string, error) {
	account, err := p.Accounts.Get(ctx, accountID)
	return strconv.FormatInt(account.Grant, 10), err
}
