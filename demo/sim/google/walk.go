package google

import (
	"cmp"
	"iter"
	"slices"
)

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
	case l.orderBy != "":
		page.events, more, err = cal.sorted(&at, l)
	case l.singleEvents:
		page.events, more, err = cal.expanded(&at, l)
	case l.syncToken != "":
		page.events, more = cal.changes(&at, l)
	default:
		page.events, more = cal.created(&at, l)
	}
	if err != nil {
		return foundPage{}, err
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
	if !decodeToken(l.pageToken, &given) || given.Calendar != at.Calendar || given.Request != at.Request || given.After < 0 ||
		given.UpTo > w.version {
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
		if e := c.events[entry.id]; l.wants(c, e) {
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
		if e := c.events[id]; l.wants(c, e) {
			found = append(found, e)
		}
	}
	return found, more
}

// rows are the events behind a place, in the order of the listing, each with
// the place behind it.
func (c *calendar) rows(at *pageToken, l *listing) iter.Seq2[int64, *event] {
	return func(yield func(int64, *event) bool) {
		if l.syncToken == "" {
			for i := int(at.After); i < len(c.order); i++ {
				if !yield(int64(i+1), c.events[c.order[i]]) {
					return
				}
			}
			return
		}
		for _, entry := range c.log[c.firstAfter(at.After):] {
			if entry.version > at.UpTo || c.current(entry) && !yield(entry.version, c.events[entry.id]) {
				return
			}
		}
	}
}

// expanded are the events with the instances of a series in its place. A page
// may end between two instances.
func (c *calendar) expanded(at *pageToken, l *listing) (found []*event, more bool, err error) {
	for place, e := range c.rows(at, l) {
		items, err := l.items(c, e)
		if err != nil {
			return nil, false, err
		}
		for _, one := range items {
			if at.Instance != "" && one.ID <= at.Instance {
				continue
			}
			if len(found) == l.max {
				return found, true, nil
			}
			found, at.Instance = append(found, one), one.ID
		}
		at.After, at.Instance = place, ""
	}
	return found, false, nil
}

// sorted are the events in the order that was asked for, filtered first.
func (c *calendar) sorted(at *pageToken, l *listing) (found []*event, more bool, err error) {
	for _, id := range c.order {
		items, err := l.items(c, c.events[id])
		if err != nil {
			return nil, false, err
		}
		found = append(found, items...)
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
	return found, more, nil
}
