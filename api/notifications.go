package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"questscheduler/internal/store"
	"questscheduler/notify"
)

func (s *server) notificationRoutes() {
	route(s, "GET /v1/notifications", "list-notifications", persons,
		"The caller's notifications that are not dismissed, newest first", s.listNotifications)
	route(s, "POST /v1/notifications/{id}/read", "read-notification", persons, "Mark one as read", s.readNotification)
	route(s, "POST /v1/notifications/read-all", "read-all-notifications", persons,
		"Mark all as read", s.readAllNotifications)
}

type notificationList struct {
	page
	Notifications []notificationAnswer `json:"notifications"`
}

type notificationAnswer struct {
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Body      string         `json:"body"`
	ActionURL *string        `json:"action_url"`
	Resource  resourceAnswer `json:"resource" doc:"What it is about."`
	Actor     *actorAnswer   `json:"actor" doc:"The person who caused it; null if none is named."`
	Read      bool           `json:"read"`
	CreatedAt *time.Time     `json:"created_at"`
}

type resourceAnswer struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Title string `json:"title"`
}

type actorAnswer struct {
	UserID      string  `json:"user_id"`
	DisplayName *string `json:"display_name"`
}

// TransformSchema implements huma.SchemaTransformer.
func (notificationAnswer) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return nullable(s, "actor")
}

func (s *server) listNotifications(ctx context.Context, by caller, in *struct{ Paging }) (notificationList, error) {
	place := listing{name: "notifications", parent: store.Doc("users", by.person.ID), collection: "notifications"}
	found, is, err := listed(place, in.Paging, answerNotification,
		func(part store.Paging, take func(notify.Notification) (bool, error)) (*store.Cursor, error) {
			return notify.Walk(ctx, s.Store, by.person.ID, part, take)
		})
	return notificationList{page: is, Notifications: found}, err
}

func answerNotification(n notify.Notification) notificationAnswer {
	answer := notificationAnswer{
		ID: n.ID, Type: n.Type, Title: n.Title, Body: n.Body, ActionURL: optional(n.ActionURL),
		Resource: resourceAnswer(n.Resource), Read: n.Read, CreatedAt: instant(n.CreatedAt),
	}
	if n.Actor != nil {
		answer.Actor = &actorAnswer{UserID: n.Actor.UserID, DisplayName: optional(n.Actor.DisplayName)}
	}
	return answer
}

type onNotification struct {
	ID string `path:"id" doc:"The notification's id, percent-encoded."`
}

type readAnswer struct {
	Read bool `json:"read"`
}

func (s *server) readNotification(ctx context.Context, by caller, in *onNotification) (readAnswer, error) {
	return readAnswer{Read: true}, notify.MarkRead(ctx, s.Store, by.person.ID, in.ID)
}

type readAllAnswer struct {
	Marked int `json:"marked" doc:"How many had not been read."`
}

func (s *server) readAllNotifications(ctx context.Context, by caller, _ *struct{}) (readAllAnswer, error) {
	marked, err := notify.MarkAllRead(ctx, s.Store, by.person.ID)
	return readAllAnswer{Marked: marked}, err
}
