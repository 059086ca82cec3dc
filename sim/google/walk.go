package google

import (
	"cmp"
	"net/http"
	"slices"
)

// errExpand is the simulator's own: it does not expand series.
var errExpand = newError(http.StatusBadRequest, "badRequest",
	"This simulator does not expand recurring events: list with singleEvents=false.")

// walk finds one page. A page is cut before it is filtered, and so may be
// short or empty and still name a next one.
//
// A full listing goes by creation, a listing from a sync token by change. Both
// cover what there was when their first page was asked for; what changes in
// between is covered by the sync token of the last page, which is as old as
// the first.
func (w *world) walk(cal *calendar, l *listing, givesToken bool) (foundPage, error) {
	at, err := w.place(cal, l)
	if err != nil {
		return foundPage{}, err
	}
	var page foundPage
	var more bool
	switch {
	case l.syncToken != "":
		page.events, more = cal.changes(&at, l)
	case l.orderBy != "":
		page.events, more = cal.sorted(&at, l)
	default:
		page.events, more = cal.created(&at, l)
	}
	if l.singleEvents && slices.ContainsFunc(page.events, (*event).recurring) {
		return foundPage{}, errExpand
	}
	page.view = l.view
	switch {
	case more:
		page.tokens = object{{"nextPageToken", at.encode()}}
	case givesToken:
		token := syncToken{Calendar: cal.ID, Epoch: w.epoch, CalendarEpoch: cal.Epoch, Since: at.UpTo,
			Shaping: digest(l.shaping), Given: l.now.Unix()}
		page.tokens = object{{"nextSyncToken", token.encode()}}
	}
	return page, nil
}

// place is where the page begins: where the page token says, or at the start.
func (w *world) place(cal *calendar, l *listing) (pageToken, error) {
	at := pageToken{Calendar: cal.ID, Request: digest(l.all), UpTo: w.version}
	if l.syncToken != "" {
		token, err := w.checkSyncToken(cal, l)
		if err != nil {
			return at, err
		}
		at.After = token.Since
	}
	if l.pageToken == "" {
		return at, nil
	}
	var given pageToken
	if !decodeToken(l.pageToken, &given) || given.Calendar != at.Calendar || given.Request != at.Request || given.UpTo > w.version {
		return at, invalidParameter("pageToken", "Invalid page token value.")
	}
	return given, nil
}

// changes are the events whose newest version lies after the place, deleted
// ones included. An event that changes while the listing goes on is left to
// the next one.
func (c *calendar) changes(at *pageToken, l *listing) (found []*event, more bool) {
	for _, entry := range c.log[c.firstAfter(at.After):] {
		if entry.version > at.UpTo {
			break
		}
		if !c.current(entry) {
			continue
		}
		if len(found) == l.max {
			return found, true
		}
		at.After = entry.version
		if e := c.events[entry.id]; e.Cancelled || l.filter.shows(e) {
			found = append(found, e)
		}
	}
	return found, false
}

// created are the events in the order in which they were made.
func (c *calendar) created(at *pageToken, l *listing) (found []*event, more bool) {
	rest := c.order[min(int(at.After), len(c.order)):]
	if len(rest) > l.max {
		rest, more = rest[:l.max], true
	}
	at.After += int64(len(rest))
	for _, id := range rest {
		if e := c.events[id]; l.wants(e) {
			found = append(found, e)
		}
	}
	return found, more
}

// sorted are the events in the order that was asked for, filtered first.
func (c *calendar) sorted(at *pageToken, l *listing) (found []*event, more bool) {
	for _, id := range c.order {
		if e := c.events[id]; l.wants(e) {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b *event) int {
		if l.orderBy == "startTime" {
			return cmp.Or(a.Start.in(l.view.zone).Compare(b.Start.in(l.view.zone)), cmp.Compare(a.Ordinal, b.Ordinal))
		}
		return cmp.Compare(a.Version, b.Version)
	})
	found = found[min(int(at.After), len(found)):]
	if len(found) > l.max {
		found, more = found[:l.max], true
	}
	at.After += int64(len(found))
	return found, more
}

// wants says whether a listing without a sync token shows the event. Deleted
// ones are hidden unless asked for, or changed since updatedMin.
func (l *listing) wants(e *event) bool {
	if !e.Cancelled {
		return l.filter.shows(e)
	}
	if !l.filter.updatedMin.IsZero() {
		return !e.Updated.Before(l.filter.updatedMin)
	}
	return l.showDeleted && !e.vanished(l.seenSince)
}
