package api

import (
	"context"
	"time"

	"questscheduler/groupevents"
	"questscheduler/internal/mirror"
)

// groupConnectionRoutes are the routes by which members connect accounts to a group.
func (s *server) groupConnectionRoutes() {
	route(s, "POST /v1/groups/{id}/connections", "connect-group-account", groupMembers,
		"Have the group's events shown in one of the caller's accounts", s.connectAccount, created)
	route(s, "GET /v1/groups/{id}/connections", "list-group-connections", groupMembers,
		"The caller's connected accounts; for the group's creator also who is connected", s.listConnections)
	route(s, "DELETE /v1/groups/{id}/connections/{account_id}", "disconnect-group-account", groupMembers,
		"Disconnect one of the caller's accounts", s.disconnectAccount)
}

type connectBody struct {
	AccountID documentID `json:"account_id" doc:"A linked account of the caller."`
}

type connectAccount struct {
	ID   string `path:"id" doc:"The group's id."`
	Body connectBody
}

type connectionAnswer struct {
	AccountID string    `json:"account_id"`
	Email     *string   `json:"email"`
	CreatedAt time.Time `json:"created_at"`
}

func answerConnection(c groupevents.Connected) connectionAnswer {
	return connectionAnswer{AccountID: c.AccountID, Email: optional(c.Email), CreatedAt: c.CreatedAt}
}

func (s *server) connectAccount(ctx context.Context, by caller, in *connectAccount) (connectionAnswer, error) {
	connected, err := s.GroupEvents.Connect(ctx, by.person, in.ID, string(in.Body.AccountID), by.cause)
	return answerConnection(connected), err
}

type connectionList struct {
	Connections []connectionAnswer `json:"connections" doc:"The caller's own."`
	MemberIDs   []string           `json:"member_ids" doc:"Who has connected an account; for the group's creator alone, empty for others."`
}

func (s *server) listConnections(ctx context.Context, by caller, in *onGroup) (connectionList, error) {
	shown, err := s.GroupEvents.Connections(ctx, by.person, in.ID)
	return connectionList{Connections: each(shown.Own, answerConnection), MemberIDs: each(shown.People, itself)}, err
}

type disconnectAccount struct {
	ID           string `path:"id" doc:"The group's id."`
	AccountID    string `path:"account_id" doc:"The account's id."`
	DeleteEvents bool   `query:"delete_events" doc:"Delete the group's events from the account, also those that an earlier disconnection kept; otherwise they stay as they are."`
}

type disconnectAnswer struct {
	Disconnected bool `json:"disconnected"`
}

func (s *server) disconnectAccount(ctx context.Context, by caller, in *disconnectAccount) (disconnectAnswer, error) {
	asked := mirror.Connection{GroupID: in.ID, AccountID: in.AccountID, OwnerID: by.person.ID}
	return disconnectAnswer{Disconnected: true}, s.GroupEvents.Disconnect(ctx, asked, in.DeleteEvents, by.cause)
}

// endConnections disconnects people who do not belong to a group any more. The cleanup does
// what fails.
func (s *server) endConnections(ctx context.Context, by caller, groupID string) {
	if _, err := s.GroupEvents.Prune(ctx, groupID, by.cause); err != nil {
		s.Log.WarnContext(ctx, "connections of former members are ended later", "group", groupID, "trace", by.cause.Trace, "error", err)
	}
}
