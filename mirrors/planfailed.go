package mirrors

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"questscheduler/fault"
	"questscheduler/scheduler"
)

// mostUnplanned is how many iCalUIDs of a person may fail before the planning stops: so many
// fail for a reason that concerns all.
const mostUnplanned = 20

// planUIDs plans iCalUIDs, each once: in one transaction, or if that fails each in its own, so
// that one delays no other. failed are those of before, and of these that failed, without those
// that succeeded; failures say why. err ends the planning: the store is not there, or too many
// failed.
func (s *Service) planUIDs(
	ctx context.Context, ownerID string, uids, before []string, cause scheduler.Cause,
) (failed []string, failures, err error) {
	uids = slices.Compact(slices.Sorted(slices.Values(uids)))
	failed = slices.DeleteFunc(slices.Clone(before), func(uid string) bool { return slices.Contains(uids, uid) })
	if len(uids) == 0 {
		return failed, nil, nil
	}
	if former, together := s.planTogether(ctx, ownerID, uids, cause); together == nil && len(former) == 0 {
		return failed, nil, nil
	}
	for _, uid := range uids {
		err := s.PlanUID(ctx, ownerID, uid, cause)
		switch {
		case err == nil:
		case ctx.Err() != nil || fault.Is(err, fault.Unavailable) || len(failed) == mostUnplanned:
			return failed, failures, err
		default:
			failed, failures = append(failed, uid), errors.Join(failures, fmt.Errorf("iCalUID %q: %w", uid, err))
		}
	}
	return failed, failures, nil
}

// withFailed is the place after a page, of which the last part is left out if nothing failed
// and is repeated until nothing does.
func (p place) withFailed() place {
	switch {
	case p.Part < failedPart:
	case len(p.Failed) == 0:
		p.Part, p.Failed = len(parts), nil
	default:
		p.Part = failedPart
	}
	return p
}

// failedPart is what failed in the parts before.
func (s *Service) failedPart(_ context.Context, _ string, from place) (uids []string, next place, err error) {
	return from.Failed, from.then(""), nil
}
