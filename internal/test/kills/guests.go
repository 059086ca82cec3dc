package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inviter invites people who have second addresses, and keeps the file that names these.
type inviter struct {
	hand
	invitations []*invitation
	active      bool // the row that is switched on and off
}

// invitation is an event with the guests whom its organizer invited.
type invitation struct {
	event, title string
	guests       []string
	live         bool
}

// secondOf is somebody's second address.
func secondOf(address string) string {
	name, _, _ := strings.Cut(address, "@")
	return name + "@south.example"
}

// writeMappings writes the file of second addresses; active: the row that is switched.
func (w *world) writeMappings(active bool) error {
	rows := []string{"primary,secondary,status"}
	for _, name := range []string{organizer, "dora", "gus", "hal", "ida"} { // most of them nobody invites
		rows = append(rows, emailOfPrimary(name)+","+secondOf(emailOfPrimary(name))+",active")
	}
	status := map[bool]string{true: "active", false: "inactive"}[active]
	rows = append(rows, emailOfPrimary("finn")+","+secondOf(emailOfPrimary("finn"))+","+status)
	path := filepath.Join(w.dir, mappingsFile)
	if err := os.WriteFile(path+".new", []byte(strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func emailOfPrimary(name string) string { return name + "@" + primaries }

func (i *inviter) act(ctx context.Context) {
	if i.again(ctx) {
		return
	}
	i.choose(ctx, choice{4, i.invite}, choice{3, i.move}, choice{2, i.rename}, choice{2, i.delete}, choice{1, i.switchRow})
}

func (i *inviter) own() account { return i.w.accounts[i.who] }

func (i *inviter) invite(ctx context.Context) {
	event := &invitation{title: fmt.Sprintf("Planning %04d", i.w.number()), live: true}
	event.guests = pick(i.random, [][]string{
		{emailOfPrimary("dora")}, {emailOfPrimary("finn")}, {emailOfPrimary("dora"), emailOfPrimary("finn")},
		{"client@elsewhere.example", emailOfPrimary("finn")},
	})
	body := timed(i.w.times.next())
	var guests []object
	for _, guest := range event.guests {
		guests = append(guests, object{"email": guest})
	}
	body["summary"], body["attendees"] = event.title, guests
	if got := i.w.calendar(ctx, i.own(), http.MethodPost, i.own().events(), body); got.good() {
		event.event = text(got.data, "id")
		i.invitations = append(i.invitations, event)
	}
}

func (i *inviter) one() *invitation {
	live := slices.DeleteFunc(slices.Clone(i.invitations), func(e *invitation) bool { return !e.live })
	if len(live) == 0 {
		return nil
	}
	return pick(i.random, live)
}

func (i *inviter) move(ctx context.Context) {
	if event := i.one(); event != nil {
		i.w.calendar(ctx, i.own(), http.MethodPatch, i.own().event(event.event), timed(i.w.times.next()))
	}
}

func (i *inviter) rename(ctx context.Context) {
	event := i.one()
	if event == nil {
		return
	}
	title := fmt.Sprintf("Planning %04d", i.w.number())
	if got := i.w.calendar(ctx, i.own(), http.MethodPatch, i.own().event(event.event), object{"summary": title}); got.good() {
		event.title = title
	}
}

func (i *inviter) delete(ctx context.Context) {
	event := i.one()
	if event == nil {
		return
	}
	if got := i.w.calendar(ctx, i.own(), http.MethodDelete, i.own().event(event.event), nil); got.good() {
		event.live = false
	}
}

// switchRow switches a row of the file on or off, and has the program load it.
func (i *inviter) switchRow(ctx context.Context) {
	if err := i.w.writeMappings(!i.active); err != nil {
		i.w.note(finding{wrong, err.Error()})
		return
	}
	i.active = !i.active
	i.command(ctx, command{who: admin, method: http.MethodPost, path: "/admin/reload-mappings"})
}

// judge: each event has the guests whom its organizer invited, and their second addresses in
// force, each once.
func (i *inviter) judge(_ context.Context, observed *observation, settled bool) (found []finding, err error) {
	for _, sent := range i.invitations {
		events := observed.named(i.own().email, sent.title)
		if len(events) > 1 || sent.live && len(events) == 0 {
			found = append(found, finding{wrong, fmt.Sprintf("%s is %d times in the calendar", sent.title, len(events))})
		}
		for _, event := range events {
			got, want := guestsOf(event), i.wanted(sent)
			if len(slices.Compact(slices.Clone(got))) < len(got) {
				found = append(found, finding{doubled, fmt.Sprintf("%s has the guests %v", sent.title, got)})
			} else if settled && !slices.Equal(got, want) {
				found = append(found, finding{lost, fmt.Sprintf("%s has the guests %v, want %v", sent.title, got, want)})
			}
		}
	}
	return found, nil
}

func guestsOf(event object) (addresses []string) {
	for _, guest := range list(event["attendees"]) {
		addresses = append(addresses, text(guest, "email"))
	}
	slices.Sort(addresses)
	return addresses
}

func (i *inviter) wanted(sent *invitation) []string {
	want := slices.Clone(sent.guests)
	for _, guest := range sent.guests {
		if guest == emailOfPrimary("dora") || guest == emailOfPrimary("finn") && i.active {
			want = append(want, secondOf(guest))
		}
	}
	slices.Sort(want)
	return want
}
