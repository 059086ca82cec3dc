package main

import (
	"time"

	"questscheduler/calendarsync"
	"questscheduler/groupevents"
	"questscheduler/internal/config"
	"questscheduler/internal/ids"
	"questscheduler/internal/outbox"
	"questscheduler/notify"
	"questscheduler/operations/health"
	"questscheduler/scheduler"
	"questscheduler/web-hooks/timers"
)

// webhookPath is where Google's pushes arrive.
const webhookPath = "/webhooks/google/calendar"

// pushAddress is where Google sends pushes; "" if it cannot reach this server.
func (s *server) pushAddress() string {
	if s.config.PublicURL == "" || s.config.Sync == config.SyncOff {
		return ""
	}
	return s.config.PublicURL + webhookPath
}

// appAnnounces is how long the web app's own functions have to announce what was
// done in the app: longer than a call that is passed on may take.
const appAnnounces = 75 * time.Second

// newScheduler builds the scheduler and the watcher together, since each calls the
// other: the scheduler has calendars watched, and the watcher repairs polls.
func (s *server) newScheduler(google googleAccess, discord *notify.DiscordClient) (*scheduler.Service, *calendarsync.Watcher) {
	var rest time.Duration
	if s.config.CallablesUpstream != "" {
		rest = appAnnounces
	}
	var channels scheduler.Channels // a nil client would not be nil there
	if discord != nil {
		channels = discord
	}
	service := &scheduler.Service{
		Store: s.documents, Outbox: s.outbox, Accounts: google.lookup,
		Calendar: calendarsync.Events{Google: google.client, MoveFinder: google.elsewhere},
		Channels: channels, Shares: groupevents.Shares, Now: s.now, Wait: wait,
		IDs:    scheduler.IDs{UUID: ids.UUID, ULID: s.newPrefixedID},
		Settle: s.config.NotifySettle, AppNoticeDelay: rest, SnapshotKeep: s.config.SnapshotKeep,
		MembersListed: s.config.GroupMembers == config.MembersListed,
		Log:           s.log, Meter: s.metrics.Count,
	}
	watcher := &calendarsync.Watcher{
		Store: s.documents, Outbox: s.outbox, Google: google.client, Polls: s.polls(service), Now: s.now,
		NewUUID: ids.UUID, Tokens: google.keys,
		Address: s.pushAddress(), TTL: s.config.WatchTTL, RenewBefore: s.config.RenewBefore, Observing: s.config.Sync == config.SyncObserve,
		Alone: s.file != nil, Log: s.log, Meter: s.metrics.Count,
	}
	service.Watches = watcher
	return service, watcher
}

func (s *server) newPrefixedID(prefix string) string { return prefix + "_" + s.newID() }

// polls applies what calendars show, or with QS_SYNC=observe only journals it.
func (s *server) polls(service *scheduler.Service) calendarsync.Polls {
	if s.config.Sync == config.SyncObserve {
		return scheduler.Observer{Service: service}
	}
	return service
}

func (s *server) newSyncer(
	google googleAccess, polls calendarsync.Polls, owners owners, consumers ...calendarsync.Consumer,
) *calendarsync.Syncer {
	return &calendarsync.Syncer{
		Store: s.documents, Google: google.client, MoveFinder: google.elsewhere, Polls: polls, Owners: owners, Consumers: consumers,
		Observing: s.config.Sync == config.SyncObserve, Now: s.now, MinGap: s.config.SyncMinGap,
		HoldShare: s.config.MassCancelShare, HoldMin: s.config.MassCancelMin, Log: s.log, Meter: s.metrics.Count,
	}
}

// withSync has work that needs the calendars rest with QS_SYNC=off. It stays due.
func (s *server) withSync(kind outbox.Kind) outbox.Kind {
	if s.config.Sync == config.SyncOff {
		kind.Mode = func() outbox.Mode { return outbox.Rests }
	}
	return kind
}

func (s *server) newHealth(watcher *calendarsync.Watcher, jobs []timers.Job) *health.Reader {
	return &health.Reader{
		Store: s.documents, Now: s.now, Recent: s.config.FallbackEvery + time.Hour, Ending: health.Ending(watcher.RenewBefore),
		Address: s.pushAddress(), Sync: s.config.Sync, Work: s.outbox, Jobs: jobs, Attendees: s.config.AttendeesOn(),
	}
}
