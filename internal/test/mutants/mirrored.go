package main

// mirrored are faults of mirroring.
var mirrored = []mutant{
	{
		name:   "mirror-taken-for-an-origin",
		breaks: "The event of a mirror is an origin like any other, so two edges between two accounts copy each other's copies.",
		changes: []change{{
			file: "mirrors/plan/classify.go",
			old:  `case !MayBeOurs(shown):`,
			new:  `case true:`,
		}},
	},
	{
		name:   "id-like-a-mirrors-is-no-origin",
		breaks: "An event with an id like a mirror's is nobody's origin, whether a document names it or not.",
		changes: []change{{
			file: "mirrors/plan/classify.go",
			old:  `case marked, elsewhere:`,
			new:  `default:`,
		}},
	},
	{
		name:   "reconciliation-asks-for-own-mirrors-alone",
		breaks: "The daily reconciliation deletes what other accounts mirror into a calendar that it can reach.",
		changes: []change{{
			file: "mirrors/reconcile.go",
			old:  `return naming.Anywhere(id) })`,
			new:  `return naming.Anywhere() })`,
		}},
	},
	{
		name:   "covered-by-the-icaluid-alone",
		breaks: "An event with the copied iCalUID of a meeting hides the meeting.",
		changes: []change{{
			file: "mirrors/plan/agree.go",
			old:  `return sameOrganizer(a, b) && (sameTimes(a, b) || now.Before(agreeUntil(a, b)))`,
			new:  `return a.ICalUID == b.ICalUID`,
		}},
	},
	{
		name:   "copies-count-as-free-time",
		breaks: "What events of ours occupy is not kept, so a calendar is answered to be free where copies block it.",
		changes: []change{{
			file: "mirrors/copies.go",
			old:  `case m.Target == mirror.Overlay && o.event.EventState != rules.Gone:`,
			new:  `case o.class == plan.Ours && o.event.EventState != rules.Gone:`,
		}},
	},
	{
		name:   "origin-known-by-event-id-alone",
		breaks: "An invitation has one id in every calendar, and the copies of two accounts count as one origin.",
		changes: []change{{
			file: "internal/mirror/codec_event.go",
			old:  `return hash(accountID, calendarID, eventID)`,
			new:  `return hash(eventID)`,
		}},
	},
	{
		name:   "wanted-hash-not-compared",
		breaks: "A mirror that was written once counts as right whatever its event becomes.",
		changes: []change{{
			file: "mirrors/plan/revise.go",
			old:  `case was.State == mirror.Active && was.Wanted == next.Wanted:`,
			new:  `case was.State == mirror.Active:`,
		}},
	},
	{
		name:   "drift-not-repaired",
		breaks: "A mirror that a person dragged stays where it is.",
		changes: []change{{
			file: "mirrors/plan/observed.go",
			old:  `return revert(next, now, mirror.Pending)`,
			new:  `return next, Drift`,
		}},
	},
	{
		name:   "exception-inserted-as-a-new-event",
		breaks: "A moved occurrence is mirrored as an event of its own, beside the occurrence of the mirrored series.",
		changes: []change{{
			file: "mirrors/plan/occurrence.go",
			old:  `want{ask: p.asked[event.ID][account], series: &one.event}`,
			new:  `want{ask: p.asked[event.ID][account]}`,
		}},
	},
	{
		name:   "mirror-written-without-its-mapping",
		breaks: "A mirror's event is created without the mark of its mirror, so that one whose answer was lost is nobody's and stays.",
		changes: []change{{
			file: "mirrors/writer_take.go",
			old:  `content, plan.Marks(a.Mirror, w.Installation))`,
			new:  `content, nil)`,
		}},
	},
	{
		name:   "mirror-outlives-its-event",
		breaks: "An event is deleted, and its mirrors stay.",
		changes: []change{{
			file: "mirrors/plan/canonical.go",
			old: `
		next.Status = cancelled
	case details`,
			new: `
		return was, false
	case details`,
		}},
	},
	{
		name:   "mirror-outlives-a-deletion-after-410",
		breaks: "Events that a full listing does not show are not asked for, and their mirrors stay.",
		changes: []change{{
			file: "mirrors/unlisted.go",
			old:  `		if !l.shown(eventID) {`,
			new:  `		if !l.shown(eventID) && eventID == "" {`,
		}},
	},
	{
		name:   "no-suppression",
		breaks: "A mirror that a person deletes again and again comes back each time.",
		changes: []change{{
			file: "mirrors/plan/observed.go",
			old:  `again := !m.DeletedAt.IsZero() && m`,
			new:  `again := m.DeletedAt.IsZero() && m`,
		}},
	},
	{
		name:   "removed-edge-leaves-copies",
		breaks: "An edge is removed, and its mirrors stay.",
		changes: []change{{
			file: "mirrors/plan/plan.go",
			old:  `!kept {`,
			new:  `!kept && len(p.Edges) == 0 {`,
		}},
	},
	{
		name:   "busy-with-a-title",
		breaks: "A mirror of the detail BUSY has the title of its event.",
		changes: []change{{
			file: "mirrors/plan/project.go",
			old:  `Summary: BusyTitle, Start`,
			new:  `Summary: event.Title, Start`,
		}},
	},
	{
		name:   "private-event-with-a-title",
		breaks: "A private event is shown with the detail of the edge.",
		changes: []change{{
			file: "mirrors/plan/project.go",
			old: `
		return mirror.Busy
	}
	return detail`,
			new: `
		return detail
	}
	return detail`,
		}},
	},
	{
		name:   "mirror-written-in-another-accounts-name",
		breaks: "A mirror is written in the name of its origin's account, whose quota it takes and who may not write there.",
		changes: []change{{
			file: "mirrors/writer_load.go",
			old:  `return gcal.Ref{Account: a.Mirror.TargetAccountID,`,
			new:  `return gcal.Ref{Account: a.Mirror.FromAccountID,`,
		}},
	},
	{
		name:   "native-copy-not-counted",
		breaks: "An account that was invited to a meeting itself gets a mirror of it too, and shows it twice.",
		changes: []change{{
			file: "mirrors/plan/once.go",
			old:  `isOccurrence(event, at) && !event.Declined && event.Status != cancelled {`,
			new:  `isOccurrence(event, at) && event.Declined && event.Status != cancelled {`,
		}},
	},
	{
		name:   "declined-event-mirrored",
		breaks: "A meeting that its guest declined blocks the guest's other calendars.",
		changes: []change{{
			file: "mirrors/plan/window.go",
			old:  `(!event.Declined || event.OwnerID != owner) &&`,
			new:  `(!event.Declined || event.OwnerID == owner) &&`,
		}},
	},
	{
		name: "overlay-edge-leaves-the-primary",
		breaks: "An edge into the primary calendar becomes one into an overlay calendar that is yet to be created, and the " +
			"mirrors stay in the primary.",
		changes: []change{{
			file: "mirrors/plan/revise.go",
			old:  `(calendar != "" || w.target == mirror.Overlay)`,
			new:  `(calendar != "" || w.target == mirror.Overlay && was.State == mirror.Suppressed)`,
		}},
	},
	{
		name:   "others-exceptions-all-at-once",
		breaks: "One edit of a series that somebody else organizes has all of its exceptions written at once.",
		changes: []change{{
			file: "mirrors/plan/pace.go",
			old:  `for within(taken, at) >= most {`,
			new:  `for within(taken, at) >= most && most < 0 {`,
		}},
	},
	{
		name:   "waiting-exception-forgotten",
		breaks: "An exception that waits for its turn never has one, and its old time stays busy in the copy.",
		changes: []change{{
			file: "mirrors/plan/pace.go",
			old:  `r.next.NotBefore, r.next.Due = at, at`,
			new:  `r.next.NotBefore, r.next.Due = at, time.Time{}`,
		}},
	},
	{
		name:   "copies-of-copies-without-end",
		breaks: "A copy that another program makes of a mirror is mirrored on however many rounds there were.",
		changes: []change{{
			file: "mirrors/plan/rounds.go",
			old:  `found := Behind(others[i].CopyOf, others[i].ID)`,
			new:  `found := []string{others[i].ID}`,
		}},
	},
	{
		name:   "duplicates-count-as-rounds",
		breaks: "Copies that a person duplicates by hand count as another program's, and the third is not mirrored.",
		changes: []change{{
			file: "mirrors/rounds.go",
			old:  `mark != "" {`,
			new:  `mark != "" && false {`,
		}},
	},
	{
		name:   "gone-occurrence-patched-without-end",
		breaks: "The copy of an occurrence that is gone with its series is changed again and again until a sync finds the end of the series.",
		changes: []change{{
			file: "mirrors/writer_check.go",
			old:  `(shown.ETag == "" || shown.ETag == a.Mirror.ETag)`,
			new:  `shown.ETag == a.Mirror.ETag`,
		}},
	},
	{
		name:   "stray-deleted-whatever-it-became",
		breaks: "An event of ours that no mirror names is deleted as it is now, not as it was listed.",
		changes: []change{{
			file: "mirrors/reconcile.go",
			old:  `id, c.shown[id].etag)`,
			new:  `id, "")`,
		}},
	},
}
