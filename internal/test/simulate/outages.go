package main

import (
	"net/http"
	"time"

	"questscheduler/calendarsync"
	"questscheduler/fault"
	"questscheduler/internal/store"
	"questscheduler/internal/test/worldtest"
)

// outages are what goes wrong for longer than a call: pushes, sync tokens,
// grants, access to calendars, Discord.
var outages = []step{
	{weight: 1, do: func(l *life) { l.say("Google: the sync tokens expire"); l.must(l.w.Google.ExpireSyncTokens()) }},
	{weight: 2, do: func(l *life) { l.say("Google: the pushes under way are lost"); l.w.LosePushes() }},
	{weight: 1, do: func(l *life) {
		l.say("Google: the next push is sent three times")
		l.w.Plant("push", func(f *worldtest.Fault) { f.Duplicate, f.Times = 2, 1 })
	}},
	{weight: 1, do: func(l *life) {
		n := 1 + l.draws.IntN(8)
		l.say("Google: the next %d pushes come late", n)
		l.w.Plant("push", func(f *worldtest.Fault) { f.Status, f.Times = http.StatusServiceUnavailable, n })
	}},
	{weight: 1, do: func(l *life) {
		l.say("Google: the answer to the next push is lost")
		l.w.Plant("push", func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	}},
	{weight: 1, do: func(l *life) { l.forge() }},
	{weight: 1, do: func(l *life) { l.stop() }},
	{weight: 1, do: func(l *life) { l.loses(one(l, l.owners)) }},
	{weight: 2, do: func(l *life) {
		person := one(l, l.owners)
		l.say("%s: links their account again", person)
		l.w.Link(person)
	}},
	{weight: 2, do: func(l *life) {
		role := one(l, []worldtest.Role{worldtest.NoAccess, worldtest.Refused, worldtest.Reader, worldtest.Owner, worldtest.Owner})
		l.say("gm: is %s of the club's calendar now", role)
		l.w.ShareClub(role)
	}},
	{weight: 2, do: func(l *life) { l.discord() }},
	{weight: 1, do: func(l *life) {
		longest := one(l, append([]time.Duration{5 * time.Minute, 16 * time.Minute}, grants...))
		l.say("Google: watch channels are granted for %v at most (0s: as ever)", longest)
		l.w.LimitGrants(longest)
	}},
}

// grants are for how long Google grants watch channels at most, in a world that
// nothing is wrong with; 0: as long as is asked.
var grants = []time.Duration{0, 0, 0, 47 * time.Hour, 24 * time.Hour, time.Hour}

// forge sends every channel a push with every secret there ever was: at most
// one of them is good, and comes once too often.
func (l *life) forge() {
	l.say("somebody sends pushes, forged and genuine ones")
	for _, watch := range l.w.Watches() {
		for _, secret := range append(l.w.Secrets(), "guessed") {
			if err := l.send(watch, secret); secret == "guessed" && err == nil {
				l.Errorf("a push with a guessed token was taken")
			}
		}
	}
}

func (l *life) send(watch store.Document, secret string) error {
	return l.w.Watcher.Push(l.w.Context(), calendarsync.Push{
		ChannelID: watch.Path.ID(), Token: secret, ResourceID: store.Fields(watch.Data).String("resourceId"), State: "exists", Trace: "forged",
	})
}

// stop ends all watch channels, as a process does that will not be reached
// again, and sends their pushes all the same. Another process makes new ones.
func (l *life) stop() {
	l.say("the program stops its watch channels; pushes still come; it is started anew")
	watches := l.w.Watches()
	stopped := l.w.StopChannels()
	for _, watch := range watches {
		if l.w.Document(watch.Path).Exists() { // could not be stopped
			continue
		}
		for _, secret := range l.w.Secrets() {
			if err := l.send(watch, secret); !fault.Is(err, fault.Unauthenticated) && !fault.Is(err, fault.Unavailable) {
				l.Errorf("a push of channel %s, which was stopped, was taken: %v", watch.Path.ID(), err)
			}
		}
	}
	l.w.Restart()
	l.answer(stopped)
}

// discord has Discord refuse, forget or close something, or open all again.
func (l *life) discord() {
	if l.w.Discord == nil {
		return
	}
	method := one(l, []string{"messages.create", "messages.list", "messages.edit"})
	channel := one(l, []string{worldtest.Channel, worldtest.OtherChannel})
	switch l.draws.IntN(5) {
	case 0:
		status, times := one(l, []int{429, 500, 503}), 1+l.draws.IntN(3)
		l.say("Discord: the next %d calls of %s are refused with %d", times, method, status)
		l.w.PlantDiscord(method, func(f *worldtest.Fault) { f.Status, f.Times = status, times })
	case 1:
		l.say("Discord: the answer to the next %s is lost", method)
		l.w.PlantDiscord(method, func(f *worldtest.Fault) { f.LostAnswer, f.Times = true, 1 })
	case 2:
		l.say("Discord: the channel %s is gone", channel)
		l.w.OpenChannel(channel, true)
	case 3:
		denied := one(l, worldtest.Permissions)
		l.say("Discord: the bot lacks %s in channel %s", denied, channel)
		l.w.OpenChannel(channel, false, denied)
	default:
		l.say("Discord: the channels are open again")
		l.w.OpenChannel(worldtest.Channel, false)
		l.w.OpenChannel(worldtest.OtherChannel, false)
	}
}
