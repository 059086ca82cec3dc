package audit

import (
	"slices"
)

// groupText is an event of a group as a connected member's calendar shows it.
type groupText struct{ calendar, text string }

// groupTexts are all that members' calendars may show of their groups.
func (a *audit) groupTexts() (all []groupText) {
	for _, connection := range a.connections {
		if connection.flag("ending") {
			continue
		}
		account := a.accounts[connection.text("accountId")]
		for _, e := range a.canonical {
			if e.text("groupId") == connection.text("groupId") && e.text("status") != cancelledEvent {
				all = append(all, groupText{primary(account), canonicalText(e)})
			}
		}
	}
	return all
}

const cancelledEvent = "cancelled"

// canonicalText is what a copy of an event of a group shows.
func canonicalText(e record) string {
	return canonicalTime(e) + " " + e.text("title") + "/" + e.text("description") + "/" + e.text("location")
}

func canonicalTime(e record) string {
	if day := e.text("start", "date"); day != "" {
		return day + "|" + e.text("end", "date") + "|true"
	}
	return stamp(e.when("start", "time")) + "|" + stamp(e.when("end", "time")) + "|false"
}

// checkGroups: only members are connected, by accounts of theirs that can be used, and their
// calendars show each event of the group.
func (a *audit) checkGroups() error {
	within := a.compared()
	for _, connection := range a.connections {
		group, account := a.groups[connection.text("groupId")], a.accounts[connection.text("accountId")]
		owner := connection.text("ownerId")
		if connection.flag("ending") {
			a.found("the connection of %s's account %s to group %s is still ending", owner, account.id, group.id)
			continue
		}
		member := group.text("creatorId") == owner || slices.Contains(group.texts("memberIds"), owner)
		if !member || account.text("status") != "active" || account.text("ownerId") != owner {
			a.found("%s is connected to group %s by account %s of %s, which is %q; they belong to it: %t",
				owner, group.id, account.id, account.text("ownerId"), account.text("status"), member)
			continue
		}
		shown, err := a.list(primary(account))
		if err != nil {
			return err
		}
		for _, e := range a.canonical {
			start := e.when("start", "time")
			ours := e.text("groupId") == group.id && e.text("source") == "group" && e.text("status") != cancelledEvent
			if !ours || start.Before(within.Start) || !start.Before(within.End) {
				continue
			}
			is := func(other event) bool {
				return a.isCopy(other) && other.text()+" "+other.Summary+"/"+other.Description+"/"+other.Location == canonicalText(e)
			}
			if !slices.ContainsFunc(shown.Items, is) {
				a.found("the calendar of %s lacks the event of group %s at %s", owner, group.id, canonicalText(e))
			}
		}
	}
	return nil
}
