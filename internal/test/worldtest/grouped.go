package worldtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"questscheduler/demo/sim/google"
	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/scheduler"
)

// Players are members of a group of gm's who may connect their account to it
// (Options.Grouped), as Google's users.
var Players = []scheduler.Person{{ID: "eva", Email: "eva@example.com"}, {ID: "fay", Email: "fay@example.com"}}

var allConnections = &store.Query{Name: "world: group connections", Collection: "groupConnections"}

// openGrouped makes Players and their accounts.
func (w *World) openGrouped() {
	w.t.Helper()
	if !w.options.Grouped {
		return
	}
	for _, player := range Players {
		grant, err := w.Google.AddUser(google.User{Key: player.ID, Sub: "sub-" + player.ID, Email: player.Email, TimeZone: zone})
		w.must(err)
		w.browsers[player.ID] = grant
		w.Link(player.ID)
	}
}

// LinkPlayers links the players' accounts anew that are not linked. Linking one that is would
// plan everything again, and hide what was not planned before.
func (w *World) LinkPlayers() {
	w.t.Helper()
	for _, player := range Players {
		if status, _ := w.accountIs(w.Account(player.ID)); status != accounts.Active {
			w.Link(player.ID)
		}
	}
}

// Band makes a group of gm and Players.
func (w *World) Band() (groupID string) {
	w.t.Helper()
	name := "The band"
	group, err := w.Scheduler.CreateGroup(w.ctx, Person("gm"), scheduler.EditGroup{Name: &name})
	w.must(err)
	w.SetBand(group.ID, Players[0].ID, Players[1].ID)
	return group.ID
}

// SetBand has the web app say who belongs to a group beside gm.
func (w *World) SetBand(groupID string, players ...string) {
	w.t.Helper()
	members := []any{"gm"}
	for _, player := range players {
		members = append(members, player)
	}
	w.Write(poll.GroupPath(groupID), poll.Set("memberIds", members))
}

// LeaveBand has a player leave a group, as the API does.
func (w *World) LeaveBand(groupID, player string) error {
	err := w.Scheduler.LeaveGroup(w.ctx, Person(player), groupID)
	if err == nil {
		_, err = w.Groups.Prune(w.ctx, groupID, Cause)
	}
	return err
}

// UnlinkPlayer unlinks a player's account, as the API does.
func (w *World) UnlinkPlayer(player string) error {
	account, err := w.Accounts.Unlink(w.ctx, player, w.Account(player))
	if err != nil {
		return err
	}
	err = w.Groups.AccountLeaving(w.ctx, account, Cause)
	w.follow(account.ID)
	return err
}

// CleanGroups is what the daily cleanup does of connections and kept copies.
func (w *World) CleanGroups() error {
	for _, clean := range []func(context.Context, string) (int, string, error){w.Groups.EndConnections, w.Groups.DeleteKept} {
		for at := ""; ; {
			_, next, err := clean(w.ctx, at)
			if err != nil {
				return err
			}
			at = next
			if at == "" {
				break
			}
		}
	}
	return nil
}

// ListedOutsiders says who is listed to a group's creator as connected and does not belong to it.
func (w *World) ListedOutsiders(groupID string) (problems []string) {
	w.t.Helper()
	members, _ := w.observed.document(poll.GroupPath(groupID)).Data["memberIds"].([]any)
	listed, err := w.Groups.Connections(w.ctx, Person("gm"), groupID)
	if fault.Is(err, fault.Unavailable) { // as a world may have its store fail: gm reads nothing
		return nil
	}
	w.must(err)
	for _, person := range listed.People {
		if !slices.Contains(members, any(person)) {
			problems = append(problems, fmt.Sprintf("gm reads that %s is connected to the group, who left it", person))
		}
	}
	return problems
}

// GroupDisagreements are what must hold of a group in a world at rest: a connected member's
// calendar shows its events, and nobody else's does. kept are players with copies that an
// earlier disconnection kept, which stay while they belong to the group.
func (w *World) GroupDisagreements(groupID string, kept map[string]bool) (problems []string) {
	w.t.Helper()
	group := poll.DecodeGroup(w.Document(poll.GroupPath(groupID)))
	for _, player := range Players {
		account := w.Account(player.ID)
		connected := slices.ContainsFunc(decoded(w.all(allConnections), mirror.DecodeConnection), func(c mirror.Connection) bool {
			return c.GroupID == groupID && c.AccountID == account && !c.Ending
		})
		status, _ := w.accountIs(account)
		switch {
		case connected && !group.Has(player.ID):
			problems = append(problems, fmt.Sprintf("%s left the group and is connected", player.ID))
		case connected && status != accounts.Active:
			problems = append(problems, fmt.Sprintf("%s is connected by an account that is %s", player.ID, status))
		}
		var wanted []string
		for _, event := range w.CanonicalEvents() {
			if connected && event.GroupID == groupID && event.Source == mirror.SourceGroup && event.Status != "cancelled" {
				wanted = append(wanted, fmt.Sprintf("%s %s %q", event.ID, event.Start.Time.UTC().Format(time.RFC3339), event.Title))
			}
		}
		problems = append(problems, w.compareShown(player.ID, wanted, kept[player.ID] && group.Has(player.ID))...)
	}
	return problems
}

// compareShown compares what a player's calendar shows by mirrors with what it should. keeps:
// it may show more.
func (w *World) compareShown(player string, wanted []string, keeps bool) (problems []string) {
	names := map[string]string{} // of canonical events, by mirror
	for _, m := range w.MirrorDocuments() {
		names[m.ID] = m.CanonicalID
	}
	for _, o := range w.OccurrencesOf(player) {
		if !o.IsMirror() {
			continue
		}
		text := fmt.Sprintf("%s %s %q", names[o.Marks.Private[plan.MarkMirror]], instant(o.Start), o.Summary)
		at := slices.Index(wanted, text)
		if at < 0 && keeps {
			continue
		}
		if at < 0 {
			problems = append(problems, fmt.Sprintf("%s shows what it should not: %s (%s); wanted are %q", player, text, o.ID, wanted))
			continue
		}
		wanted = slices.Delete(wanted, at, at+1)
	}
	for _, missing := range wanted {
		problems = append(problems, fmt.Sprintf("%s lacks %s", player, missing))
	}
	return problems
}
