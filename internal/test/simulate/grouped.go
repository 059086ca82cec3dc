package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/mirror"
	"questscheduler/internal/test/worldtest"
)

// groupedShare is how many worlds with mirroring there are to one with events of a group.
const groupedShare = 2

// grouped are the events of a group in a world, if it has any, with a stream of its own.
type grouped struct {
	group  string
	events []string
	// kept are players with copies that an earlier disconnection kept, of events that may be
	// deleted since. everKept are those who had some: connecting again may come before their
	// deletion.
	kept, everKept map[string]bool
	draws          *rand.Rand
}

// streamGroups tells the streams of groups' events from those of the world.
const streamGroups = 0x6a0b

// drawGroups begins the stream of a step.
func (l *life) drawGroups(of int) {
	l.grouped.draws = rand.New(rand.NewPCG(l.seed^streamGroups, uint64(of)))
}

// makeGrouped draws whether a world with mirroring has events of a group.
func (l *life) makeGrouped() bool {
	l.grouped.kept, l.grouped.everKept = map[string]bool{}, map[string]bool{}
	return len(l.mirrored.names) > 0 && l.grouped.draws.IntN(groupedShare) == 0
}

// beginGroups makes the group, connected players and an event.
func (l *life) beginGroups(is bool) {
	if !is {
		return
	}
	l.grouped.group = l.w.Band()
	for _, player := range worldtest.Players {
		l.connect(player.ID)
	}
	l.newGroupEvent()
}

// mayGather draws what happens of the group before a step.
func (l *life) mayGather() {
	g := &l.grouped
	if g.group == "" {
		return
	}
	for range g.draws.IntN(3) {
		whole := 0
		for _, d := range groupSteps {
			whole += d.weight
		}
		at := g.draws.IntN(whole)
		for _, d := range groupSteps {
			at -= d.weight
			if at < 0 {
				d.do(l)
				break
			}
		}
	}
}

// player draws one of the players.
func (l *life) player() string {
	return worldtest.Players[l.grouped.draws.IntN(len(worldtest.Players))].ID
}

// groupTime draws when an event of the group is.
func (l *life) groupTime() (start, end string) {
	at := meetingDay.AddDate(0, 0, l.grouped.draws.IntN(10)).Add(time.Duration(7+l.grouped.draws.IntN(12)) * time.Hour)
	return at.Format(time.RFC3339), at.Add(time.Hour).Format(time.RFC3339)
}

func (l *life) newGroupEvent() {
	g := &l.grouped
	start, end := l.groupTime()
	ask := groupevents.Input{Title: fmt.Sprintf("Rehearsal %d", g.draws.IntN(1000)), Start: start, End: end}
	l.say("gm: makes %s of the group at %s", ask.Title, start)
	view, err := l.w.Groups.Create(l.w.Context(), worldtest.Person("gm"), g.group, groupevents.Create{Input: ask}, worldtest.Cause)
	if err == nil {
		g.events = append(g.events, view.ID)
	}
	l.answer(err)
}

// groupEvent acts on one of the group's events.
func (l *life) groupEvent(do func(ref groupevents.Reference)) {
	if g := &l.grouped; len(g.events) > 0 {
		do(groupevents.Reference{GroupID: g.group, ID: g.events[g.draws.IntN(len(g.events))]})
	}
}

// connect has a player show the group's events in their account.
func (l *life) connect(player string) {
	l.say("%s: connects to the group", player)
	_, err := l.w.Groups.Connect(l.w.Context(), worldtest.Person(player), l.grouped.group, l.w.Account(player), worldtest.Cause)
	l.grouped.kept[player] = l.grouped.everKept[player]
	l.answer(err)
}

func (l *life) disconnect(player string, deleteEvents bool) {
	l.say("%s: disconnects from the group, deleting: %t", player, deleteEvents)
	if !deleteEvents {
		l.grouped.kept[player], l.grouped.everKept[player] = true, true // even if it fails: a part may be released
	}
	connection := mirror.Connection{GroupID: l.grouped.group, AccountID: l.w.Account(player), OwnerID: player}
	err := l.w.Groups.Disconnect(l.w.Context(), connection, deleteEvents, worldtest.Cause)
	if err == nil && deleteEvents {
		l.grouped.kept[player] = false
	}
	l.answer(err)
}

// band draws who belongs to the group.
func (l *life) band() (players []string) {
	for _, player := range worldtest.Players {
		if l.grouped.draws.IntN(3) > 0 {
			players = append(players, player.ID)
		}
	}
	return players
}

// groupSteps are what happens of the group.
var groupSteps = []step{
	{weight: 5, do: (*life).newGroupEvent},
	{weight: 8, do: func(l *life) {
		l.groupEvent(func(ref groupevents.Reference) {
			title := fmt.Sprintf("Concert %d", l.grouped.draws.IntN(1000))
			edit := groupevents.Edit{Title: &title}
			if l.grouped.draws.IntN(2) == 0 {
				start, end := l.groupTime()
				edit.Start, edit.End = &start, &end
			}
			l.say("gm: changes %s to %s", ref.ID, title)
			_, err := l.w.Groups.Update(l.w.Context(), worldtest.Person("gm"), ref, edit, worldtest.Cause)
			l.answer(err)
		})
	}},
	{weight: 2, do: func(l *life) {
		l.groupEvent(func(ref groupevents.Reference) {
			l.say("gm: deletes %s", ref.ID)
			_, err := l.w.Groups.Delete(l.w.Context(), worldtest.Person("gm"), ref, worldtest.Cause)
			l.answer(err)
		})
	}},
	{weight: 4, do: func(l *life) { l.connect(l.player()) }},
	{weight: 3, do: func(l *life) { l.disconnect(l.player(), l.grouped.draws.IntN(2) == 0) }},
	{weight: 2, do: func(l *life) {
		player := l.player()
		l.say("%s: leaves the group", player)
		l.answer(l.w.LeaveBand(l.grouped.group, player))
	}},
	{weight: 3, do: func(l *life) {
		players := l.band()
		l.say("the web app: the group is gm and %v", players)
		l.w.SetBand(l.grouped.group, players...)
		l.problems = append(l.problems, l.w.ListedOutsiders(l.grouped.group)...)
	}},
	{weight: 2, do: func(l *life) {
		player := l.player()
		l.say("%s: unlinks", player)
		l.answer(l.w.UnlinkPlayer(player))
	}},
	{weight: 2, do: func(l *life) {
		player := l.player()
		l.say("%s: links again", player)
		l.w.Link(player)
	}},
	{weight: 2, do: (*life).changeDuringWork},
	{weight: 6, do: func(l *life) {
		d := time.Duration(1+l.grouped.draws.IntN(40)) * time.Second
		l.say("%v pass", d)
		l.w.Run(d)
	}},
}

// changeDuringWork has a player connect, and disconnect while the work for that is carried out.
func (l *life) changeDuringWork() {
	player := l.player()
	l.connect(player)
	l.say("%s: disconnects while the work for it runs", player)
	world := l.draws
	l.draws = l.grouped.draws
	defer func() { l.draws = world }()
	w := l.interleaver()
	defer w.describe()
	l.w.AtOnce(w.interleaving(),
		func() { l.use(); l.task(0) }, func() { l.use(); l.task(0) },
		func() { l.use(); l.disconnect(player, true) })
}

// settleGroups has the group come to rest, and checks it.
func (l *life) settleGroups() {
	if l.grouped.group == "" {
		return
	}
	l.must(l.w.CleanGroups())
	l.w.Run(l.patience())
	l.restMirrors()
	l.problems = append(l.problems, l.w.GroupDisagreements(l.grouped.group, l.grouped.kept)...)
}
