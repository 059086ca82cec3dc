package backfill

import (
	"context"

	"questscheduler/fault"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Polls is the part of scheduler.Service that Index needs.
type Polls interface {
	Following(ctx context.Context, pollID string) (scheduler.Following, error)
	Reconcile(ctx context.Context, pollID string, cause scheduler.Cause) (rules.Repair, error)
}

// Outcomes of Index.
const (
	Followed        Outcome = "followed from now on"
	FollowedAlready Outcome = "followed already"
	Repaired        Outcome = "set right after a direct edit"
	NothingToFollow Outcome = "without an event, or over for long"
)

// Index follows the events of all finalised polls that have an event nobody follows: it
// creates the index entry and requests a sync, which adopts the event's time as the
// agreed one, and journals it. The account and calendar are those of a finalisation that
// names the poll's calendar. What Google refuses one person is a problem and stops no other;
// neither does a document without room.
func Index(ctx context.Context, documents store.Store, polls Polls, cause scheduler.Cause, options Options) (Done, error) {
	cause.Quiet = true
	list := func(ctx context.Context, after *store.Cursor) ([]string, *store.Cursor, error) {
		found, next, err := poll.Finalised(ctx, documents, page, after)
		var ids []string
		for _, p := range found {
			ids = append(ids, p.ID)
		}
		return ids, next, err
	}
	do := func(ctx context.Context, pollID string, dryRun bool) (Outcome, *Problem, error) {
		done := rules.RepairNothing
		if !dryRun {
			var err error
			done, err = polls.Reconcile(ctx, pollID, cause)
			if err != nil {
				return unlessRefused(pollID, err)
			}
			if done == rules.RepairLink {
				return Followed, nil, nil
			}
		}
		// Read the reason only if the result is not obvious: most polls take one transaction.
		following, err := polls.Following(ctx, pollID)
		if err != nil {
			return unlessRefused(pollID, err)
		}
		if fix, wrong := fixes[following.Obstacle]; wrong {
			return "", &Problem{What: "poll " + pollID, Fix: fix(following)}, nil
		}
		return outcomeOf(following, done), nil, nil
	}
	return run(ctx, documents, job{"index", list, do}, options)
}

// refusals say what to do about a poll that cannot be followed now, by kind.
var refusals = map[fault.Kind]string{
	fault.RateLimited: "Google asks for fewer calls. Run this again in a moment",
	fault.Exhausted:   "the quota of its creator's account is used up. Run this again in some hours",
	fault.Provider:    "Google refuses to list the calendars of its creator's account. Have them link it again in Settings, and run this again",
	fault.TooLarge:    "its document has no room left. Have its creator shorten it, and run this again",
}

// unlessRefused makes a problem of what Google refused one person, and ends the job by other errors.
func unlessRefused(pollID string, err error) (Outcome, *Problem, error) {
	if fix, refused := refusals[fault.KindOf(err)]; refused {
		return "", &Problem{What: "poll " + pollID, Fix: fix}, nil
	}
	return "", nil, err
}

var fixes = map[scheduler.Obstacle]func(scheduler.Following) string{
	scheduler.NoAccount: func(scheduler.Following) string {
		return "nobody's Google account is linked for its event. Have its creator link one in Settings, or run \"backfill " +
			"tokens\", and run this again"
	},
	scheduler.NotTheirs: func(f scheduler.Following) string {
		return "poll " + f.Other + " follows the same event. Finalise one of the two again, and run this again"
	},
}

func outcomeOf(following scheduler.Following, done rules.Repair) Outcome {
	switch {
	case following.Repair == rules.RepairLink:
		return Followed
	case following.Repair != rules.RepairNothing || done != rules.RepairNothing:
		return Repaired
	case following.Followed:
		return FollowedAlready
	default:
		return NothingToFollow
	}
}
