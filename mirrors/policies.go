package mirrors

import (
	"context"
	"maps"
	"slices"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/mirror"
	"questscheduler/internal/store"
	"questscheduler/mirrors/plan"
	"questscheduler/rules"
	"questscheduler/scheduler"
)

// Codes of SetEdges' errors beside those of plan.CheckEdges.
const (
	// CodeUnknownCalendar (Invalid): the account is not known to write to the calendar.
	CodeUnknownCalendar = "unknown_calendar"
	// CodeOverlaySource (Invalid): an edge leads from a calendar that mirrors go into.
	CodeOverlaySource = "edge_from_overlay"
	// CodeTooMany (Conflict, Invalid): a person has too many policies, or one too many edges.
	CodeTooMany = "too_many"
)

// Bounds of a person's policies.
const (
	MaxPolicies = 20
	MaxEdges    = 50
	maxName     = 100
)

// Policies are a person's policies. Every method is for one person, and says NotFound of
// another's.
type Policies struct{ *Service }

// List lists a person's policies, by id.
func (p Policies) List(ctx context.Context, ownerID string) ([]mirror.Policy, error) {
	return mirror.PoliciesOf(ctx, p.Store, ownerID)
}

// Get reads one policy.
func (p Policies) Get(ctx context.Context, ownerID, id string) (mirror.Policy, error) {
	return mirror.LoadPolicy(ctx, p.Store, ownerID, id)
}

// Create makes a policy without edges. Invalid: the name is not a line (rules.Line) of at
// most 100 characters. Conflict: the person has 20 policies.
func (p Policies) Create(ctx context.Context, ownerID, name string) (mirror.Policy, error) {
	name, err := rules.Line("name", name, maxName)
	if err != nil {
		return mirror.Policy{}, err
	}
	now := p.now()
	policy := mirror.Policy{ID: "pol_" + p.NewID(), OwnerID: ownerID, Name: name, Version: 1, CreatedAt: now, UpdatedAt: now}
	err = p.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		all, err := mirror.PoliciesOf(ctx, tx, ownerID)
		if err != nil {
			return err
		}
		if len(all) >= MaxPolicies {
			return &fault.Error{Kind: fault.Conflict, Code: CodeTooMany, Message: "You have 20 policies. Change or delete one of them instead."}
		}
		return tx.Create(mirror.PolicyPath(policy.ID), mirror.EncodePolicy(policy))
	})
	return policy, err
}

// Rename gives a policy another name; the same one changes nothing. Invalid: as for Create.
func (p Policies) Rename(ctx context.Context, ownerID, id, name string) (policy mirror.Policy, err error) {
	name, err = rules.Line("name", name, maxName)
	if err != nil {
		return mirror.Policy{}, err
	}
	err = p.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		policy, err = mirror.LoadPolicy(ctx, tx, ownerID, id)
		if err != nil || policy.Name == name {
			return err
		}
		policy.Name, policy.UpdatedAt = name, p.now()
		policy.Version++
		return tx.Set(mirror.PolicyPath(id), mirror.EncodePolicy(policy))
	})
	return policy, err
}

// Delete removes a policy. In the same transaction all events of the person are marked to be
// planned again, which deletes the mirrors that only its edges wanted.
func (p Policies) Delete(ctx context.Context, ownerID, id string, cause scheduler.Cause) error {
	_, err := p.replace(ctx, ownerID, id, cause, func(wishes *Wishes, i int, tx store.Tx) (mirror.Policy, error) {
		gone := wishes.Policies[i]
		wishes.Policies = slices.Delete(wishes.Policies, i, i+1)
		return gone, tx.Delete(mirror.PolicyPath(id))
	})
	return err
}

// SetEdges replaces all edges of a policy. In the same transaction the calendars concerned
// are followed and all events of the person are marked to be planned again. After an error
// nothing is written. NotFound: the policy or an account is not the person's. Revoked: an
// account must be linked again. Unavailable, RateLimited: Google did not say whether an account has
// a calendar. Invalid, Conflict: an edge is wrong, or contradicts another
// one; see the codes.
func (p Policies) SetEdges(ctx context.Context, ownerID, id string, edges []mirror.Edge, cause scheduler.Cause) (mirror.Policy, error) {
	if err := p.findCalendars(ctx, ownerID, edges); err != nil {
		return mirror.Policy{}, err
	}
	return p.replace(ctx, ownerID, id, cause, func(wishes *Wishes, i int, tx store.Tx) (policy mirror.Policy, err error) {
		policy = wishes.Policies[i]
		policy.Edges, err = wishes.check(id, edges)
		if err != nil {
			return policy, err
		}
		policy.Version++
		policy.UpdatedAt = p.now()
		wishes.Policies[i] = policy
		for _, edge := range policy.Edges {
			if overlay, known := wishes.Person.Overlays[edge.ToAccountID]; known && edge.Target == mirror.Overlay {
				wishes.Person.Overlays[edge.ToAccountID] = overlay.Again()
			}
		}
		return policy, tx.Set(mirror.PolicyPath(id), mirror.EncodePolicy(policy))
	})
}

// findCalendars lists the calendars of accounts that edges lead from, where they name unknown ones: once for each.
func (p Policies) findCalendars(ctx context.Context, ownerID string, edges []mirror.Edge) error {
	if p.FindCalendars == nil || len(edges) > MaxEdges {
		return nil
	}
	named := map[string][]string{}
	for _, edge := range edges {
		named[edge.FromAccountID] = append(named[edge.FromAccountID], edge.FromCalendarID)
	}
	for _, account := range slices.Sorted(maps.Keys(named)) {
		if err := p.FindCalendars(ctx, ownerID, account, named[account]...); err != nil {
			return err
		}
	}
	return nil
}

// replace changes the edges of a policy, or removes it: change is given a person's wishes and
// which of its policies is meant, and writes it.
func (p Policies) replace(
	ctx context.Context, ownerID, id string, cause scheduler.Cause, change func(wishes *Wishes, i int, tx store.Tx) (mirror.Policy, error),
) (policy mirror.Policy, err error) {
	err = p.following(ctx, func(ctx context.Context, tx store.Tx) (begin func(context.Context), err error) {
		return p.wish(ctx, tx, ownerID, cause, func(w *Wishes) (changed bool, err error) {
			i := slices.IndexFunc(w.Policies, func(other mirror.Policy) bool { return other.ID == id })
			if i < 0 {
				_, err := mirror.LoadPolicy(ctx, tx, ownerID, id)
				return false, err
			}
			policy, err = change(w, i, tx)
			return true, err
		})
	})
	if err != nil {
		return mirror.Policy{}, err
	}
	return policy, nil
}

// check returns the edges of a policy as they are stored: the overlay is the default
// target, and the primary calendar is "". The first fault is the error.
func (w Wishes) check(policyID string, edges []mirror.Edge) ([]mirror.Edge, error) {
	if len(edges) > MaxEdges {
		return nil, &fault.Error{Kind: fault.Invalid, Code: CodeTooMany, Message: "A policy has at most 50 edges. Use another policy for more."}
	}
	linked := map[string]accounts.Account{}
	var ids []string
	for _, account := range w.Accounts {
		if account.Status != accounts.Unlinked {
			linked[account.ID], ids = account, append(ids, account.ID)
		}
	}
	checked := slices.Clone(edges)
	for i, edge := range checked {
		if edge.Target == "" {
			checked[i].Target = mirror.Overlay
		}
		if from := linked[edge.FromAccountID]; edge.FromCalendarID == "primary" || edge.FromCalendarID == primaryOf(from) ||
			isAddressOf(from, edge.FromCalendarID) {
			checked[i].FromCalendarID = ""
		}
	}
	var others []mirror.Edge
	for _, policy := range w.Policies {
		if policy.ID != policyID {
			others = append(others, policy.Edges...)
		}
	}
	if err := plan.CheckEdges(checked, others, ids); err != nil {
		return nil, err
	}
	for _, edge := range checked {
		if err := w.checkAccounts(edge, linked[edge.FromAccountID], linked[edge.ToAccountID]); err != nil {
			return nil, err
		}
	}
	return checked, nil
}

// checkAccounts reports why an edge between two linked accounts cannot work.
func (w Wishes) checkAccounts(edge mirror.Edge, from, to accounts.Account) error {
	for _, account := range []accounts.Account{from, to} {
		if err := account.Usable(); err != nil {
			return err
		}
	}
	switch {
	case isOverlay(w.Person, edge.FromCalendarID):
		return &fault.Error{
			Kind: fault.Invalid, Code: CodeOverlaySource,
			Message: "An edge cannot lead from the calendar for external events. Choose the calendar that the events come from.",
		}
	case edge.FromCalendarID != "" && !from.Owns(edge.FromCalendarID):
		return &fault.Error{
			Kind: fault.Invalid, Code: CodeUnknownCalendar,
			Message: "from_calendar_id is no calendar that its account may write to. Choose one of the account's list of calendars.",
		}
	case edge.Target == mirror.Overlay && !to.Allows(accounts.Mirrors):
		return &fault.Error{
			Kind: fault.Invalid, Code: accounts.CodeScopesInsufficient,
			Message: "This account does not let us make a calendar for external events. Link it again and allow that, or use the target primary.",
		}
	}
	return nil
}
