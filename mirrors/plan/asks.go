package plan

import (
	"cmp"
	"strings"

	"questscheduler/internal/mirror"
)

// ask is a mirror that an edge or a connection asks for.
type ask struct {
	event   mirror.Event
	account string
	detail  mirror.Detail
	target  mirror.Target
	from    int
	// byConnection: a connection to the event's group asks for it, or an edge of one of the
	// accounts that are connected.
	byConnection bool
}

// Where an ask comes from, the strongest first. One mirror at most of an event is in an
// account: a connection beats edges, an edge of a calendar beats one of its account.
const (
	fromConnection = iota
	fromCalendar
	fromAccount
	fromConnected // an edge of an account that is connected to the event's group
)

// beats orders the asks of one event for one account. Of edges of several connected
// accounts the one with the least detail counts.
func (a ask) beats(b ask) bool {
	return cmp.Or(a.from-b.from, rank(a.detail)-rank(b.detail), strings.Compare(string(a.target), string(b.target))) < 0
}

// asks lists what edges and connections ask of an event, by account, never by its own.
func (of Situation) asks(event mirror.Event) map[string]ask {
	found := map[string]ask{}
	own := event.OwnerID == of.Owner
	offer := func(account string, detail mirror.Detail, target mirror.Target, from int) {
		a := ask{event: event, account: account, detail: detail, target: target, from: from}
		a.byConnection = from == fromConnection || from == fromConnected
		if _, linked := of.Accounts[account]; !linked || own && account == event.AccountID {
			return
		}
		if was, ok := found[account]; !ok || a.beats(was) {
			found[account] = a
		}
	}
	follow := func(account, calendar string, connected bool) {
		for _, edge := range of.Edges {
			if from := of.leads(edge, account, calendar); from >= 0 {
				if connected {
					from = fromConnected
				}
				offer(edge.ToAccountID, edge.Detail, edge.Target, from)
			}
		}
	}
	if own && event.AccountID != "" {
		follow(event.AccountID, event.CalendarID, false)
	}
	for _, connection := range of.Connections {
		if _, linked := of.Accounts[connection.AccountID]; !linked || event.GroupID == "" ||
			connection.GroupID != event.GroupID || connection.OwnerID != of.Owner {
			continue
		}
		offer(connection.AccountID, mirror.Full, mirror.PrimaryTarget, fromConnection)
		follow(connection.AccountID, of.Accounts[connection.AccountID].PrimaryID, true)
	}
	return found
}

// leads reports whether an edge leads away from a calendar, as fromCalendar or fromAccount,
// else -1.
func (of Situation) leads(edge mirror.Edge, account, calendar string) int {
	from, linked := of.Accounts[account]
	switch {
	case !linked || edge.FromAccountID != account:
		return -1
	case edge.FromCalendarID == "" && (calendar == from.PrimaryID || calendar == "primary"):
		return fromAccount
	case edge.FromCalendarID != "" && edge.FromCalendarID == calendar:
		return fromCalendar
	}
	return -1
}
