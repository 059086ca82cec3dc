package api

import (
	"context"
	"time"

	"questscheduler/internal/mirror"
	"questscheduler/scheduler"
)

// Policies is implemented by mirrors.Policies. What is not the person's is NotFound.
type Policies interface {
	List(ctx context.Context, ownerID string) ([]mirror.Policy, error)
	Get(ctx context.Context, ownerID, id string) (mirror.Policy, error)
	Create(ctx context.Context, ownerID, name string) (mirror.Policy, error)
	Rename(ctx context.Context, ownerID, id, name string) (mirror.Policy, error)
	// Delete removes a policy with its edges, and has the person's events planned again.
	Delete(ctx context.Context, ownerID, id string, cause scheduler.Cause) error
	// SetEdges replaces all edges of a policy, and has the person's events planned again.
	// Nothing is written if any edge is refused.
	SetEdges(ctx context.Context, ownerID, id string, edges []mirror.Edge, cause scheduler.Cause) (mirror.Policy, error)
}

func (s *server) policyRoutes() {
	route(s, "GET /v1/policies", "list-policies", persons,
		"The caller's policies: which of their calendars know about which", s.listPolicies)
	route(s, "POST /v1/policies", "create-policy", persons,
		"Make a policy without edges", s.createPolicy, created)
	route(s, "GET /v1/policies/{id}", "get-policy", mirroringOwner, "A policy with its edges", s.getPolicy)
	route(s, "PATCH /v1/policies/{id}", "rename-policy", mirroringOwner, "Rename a policy", s.renamePolicy)
	route(s, "DELETE /v1/policies/{id}", "delete-policy", mirroringOwner,
		"Delete a policy with its edges; their mirrors are deleted", s.deletePolicy)
	route(s, "PUT /v1/policies/{id}/edges", "set-policy-edges", mirroringOwner,
		"Replace all edges of a policy; mirrors are created, changed and deleted accordingly", s.setPolicyEdges)
}

type policyAnswer struct {
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Edges     []edgeAnswer `json:"edges"`
	Version   int64        `json:"version" doc:"Grows with each change."`
	CreatedAt *time.Time   `json:"created_at"`
	UpdatedAt *time.Time   `json:"updated_at"`
}

type edgeAnswer struct {
	FromAccountID  string  `json:"from_account_id"`
	FromCalendarID *string `json:"from_calendar_id" doc:"Null: the account's primary calendar."`
	ToAccountID    string  `json:"to_account_id"`
	Detail         string  `json:"detail" enum:"BUSY,TITLE,FULL"`
	Target         string  `json:"target" enum:"overlay,primary"`
}

func policyOf(p mirror.Policy) policyAnswer {
	return policyAnswer{
		ID: p.ID, Name: p.Name, Version: p.Version, CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt),
		Edges: each(p.Edges, func(e mirror.Edge) edgeAnswer {
			return edgeAnswer{
				FromAccountID: e.FromAccountID, FromCalendarID: optional(e.FromCalendarID), ToAccountID: e.ToAccountID,
				Detail: string(e.Detail), Target: string(e.Target),
			}
		}),
	}
}

type policyList struct {
	Policies []policyAnswer `json:"policies"`
}

func (s *server) listPolicies(ctx context.Context, by caller, _ *struct{}) (policyList, error) {
	policies, err := s.Policies.List(ctx, by.person.ID)
	return policyList{Policies: each(policies, policyOf)}, err
}

type createPolicyBody struct {
	Name string `json:"name" minLength:"1" maxLength:"100"`
}

func (s *server) createPolicy(ctx context.Context, by caller, in *withBody[createPolicyBody]) (policyAnswer, error) {
	policy, err := s.Policies.Create(ctx, by.person.ID, in.Body.Name)
	return policyOf(policy), err
}

type renamePolicy struct {
	ID   string `path:"id" doc:"The policy's id."`
	Body createPolicyBody
}

func (s *server) renamePolicy(ctx context.Context, by caller, in *renamePolicy) (policyAnswer, error) {
	policy, err := s.Policies.Rename(ctx, by.person.ID, in.ID, in.Body.Name)
	return policyOf(policy), err
}

type deletePolicyAnswer struct {
	Deleted bool `json:"deleted" doc:"true: it is gone; its mirrors follow."`
}

func (s *server) deletePolicy(ctx context.Context, by caller, in *onPolicy) (deletePolicyAnswer, error) {
	return deletePolicyAnswer{Deleted: true}, s.Policies.Delete(ctx, by.person.ID, in.ID, by.cause)
}

type onPolicy struct {
	ID string `path:"id" doc:"The policy's id."`
}

func (s *server) getPolicy(ctx context.Context, by caller, in *onPolicy) (policyAnswer, error) {
	policy, err := s.Policies.Get(ctx, by.person.ID, in.ID)
	return policyOf(policy), err
}

type setPolicyEdges struct {
	ID   string `path:"id" doc:"The policy's id."`
	Body setPolicyEdgesBody
}

type setPolicyEdgesBody struct {
	Edges []edgeBody `json:"edges" maxItems:"50" doc:"All edges of the policy; an empty list ends its mirrors."`
}

type edgeBody struct {
	FromAccountID  documentID `json:"from_account_id" doc:"A linked account of the caller."`
	FromCalendarID calendarID `json:"from_calendar_id,omitempty" doc:"Absent: the account's primary calendar. An edge of a calendar beats one of its account."`
	ToAccountID    documentID `json:"to_account_id" doc:"Another linked account of the caller."`
	Detail         string     `json:"detail" enum:"BUSY,TITLE,FULL" doc:"BUSY shows times alone, TITLE the title too, FULL description and location too."`
	Target         string     `json:"target,omitempty" enum:"overlay,primary" default:"overlay" doc:"overlay: a calendar named External Busy, which colleagues do not see as busy time. primary: the account's own calendar."`
}

func (s *server) setPolicyEdges(ctx context.Context, by caller, in *setPolicyEdges) (policyAnswer, error) {
	edges := each(in.Body.Edges, func(e edgeBody) mirror.Edge {
		return mirror.Edge{
			FromAccountID: string(e.FromAccountID), FromCalendarID: string(e.FromCalendarID), ToAccountID: string(e.ToAccountID),
			Detail: mirror.Detail(e.Detail), Target: mirror.Target(e.Target),
		}
	})
	policy, err := s.Policies.SetEdges(ctx, by.person.ID, in.ID, edges, by.cause)
	return policyOf(policy), err
}
