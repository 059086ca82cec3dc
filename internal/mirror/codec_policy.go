package mirror

import (
	"context"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// PolicyPath is where a policy is.
func PolicyPath(id string) store.Path { return store.Doc("mirrorPolicies", id) }

// PersonPath is where a person's document is.
func PersonPath(ownerID string) store.Path { return store.Doc("mirrorPeople", ownerID) }

// ConnectionPath is where the connection of a group and an account is.
func ConnectionPath(groupID, accountID string) store.Path {
	return store.Doc("groupConnections", hash(groupID, accountID))
}

// EncodePolicy gives the fields of a policy.
func EncodePolicy(p Policy) map[string]any {
	edges := make([]any, len(p.Edges))
	for i, edge := range p.Edges {
		edges[i] = map[string]any{
			"fromAccountId": edge.FromAccountID, "fromCalendarId": store.NullIfEmpty(edge.FromCalendarID),
			"toAccountId": edge.ToAccountID, "detail": string(edge.Detail), "target": string(edge.Target),
		}
	}
	return map[string]any{
		"ownerId": p.OwnerID, "name": p.Name, "edges": edges, "version": p.Version,
		"createdAt": p.CreatedAt, "updatedAt": p.UpdatedAt,
	}
}

// DecodePolicy reads a policy.
func DecodePolicy(doc store.Document) Policy {
	f := store.Fields(doc.Data)
	p := Policy{
		ID: doc.Path.ID(), OwnerID: f.String("ownerId"), Name: f.String("name"), Version: f.Int("version"),
		CreatedAt: f.Time("createdAt"), UpdatedAt: f.Time("updatedAt"),
	}
	for _, item := range f.List("edges") {
		fields, _ := item.(map[string]any)
		edge := store.Fields(fields)
		p.Edges = append(p.Edges, Edge{
			FromAccountID: edge.String("fromAccountId"), FromCalendarID: edge.String("fromCalendarId"),
			ToAccountID: edge.String("toAccountId"), Detail: Detail(edge.String("detail")), Target: Target(edge.String("target")),
		})
	}
	return p
}

// LoadPolicy reads a person's policy; NotFound if there is none or it is another person's.
func LoadPolicy(ctx context.Context, reader store.Reader, ownerID, id string) (Policy, error) {
	none := fault.New(fault.NotFound, "There is no such policy of yours. List your policies for the ids there are.")
	if PolicyPath(id).Valid() != nil {
		return Policy{}, none
	}
	doc, err := reader.Get(ctx, PolicyPath(id))
	if err != nil {
		return Policy{}, err
	}
	p := DecodePolicy(doc)
	if !doc.Exists() || p.OwnerID != ownerID {
		return Policy{}, none
	}
	return p, nil
}

// EncodeConnection gives the fields of a connection.
func EncodeConnection(c Connection) map[string]any {
	return map[string]any{"groupId": c.GroupID, "accountId": c.AccountID, "ownerId": c.OwnerID, "createdAt": c.CreatedAt, "ending": c.Ending}
}

// DecodeConnection reads a connection.
func DecodeConnection(doc store.Document) Connection {
	f := store.Fields(doc.Data)
	return Connection{
		GroupID: f.String("groupId"), AccountID: f.String("accountId"), OwnerID: f.String("ownerId"), CreatedAt: f.Time("createdAt"),
		Ending: f.Bool("ending"),
	}
}

// EncodePerson gives the fields of a person's document.
func EncodePerson(p Person) map[string]any {
	overlays := map[string]any{}
	for account, overlay := range p.Overlays {
		overlays[account] = EncodeOverlay(overlay)
	}
	held := map[string]any{}
	for key, since := range p.HeldSince {
		held[key] = since
	}
	missing := map[string]any{}
	for key, fingerprint := range p.HeldEvents {
		missing[key] = fingerprint
	}
	return map[string]any{
		"ownerId": p.OwnerID, "followed": EncodePlaces(p.Followed), "overlays": overlays, "heldSince": held,
		"heldEvents": missing, "planDue": store.NullIfZero(p.PlanDue), "planGeneration": p.PlanGeneration,
		"planAfter": store.NullIfEmpty(p.PlanAfter), "sharesAvailability": p.SharesAvailability,
		"updatedAt": store.NullIfZero(p.UpdatedAt),
	}
}

// DecodePerson reads a person's document. One that does not exist is of a person who uses
// nothing of it.
func DecodePerson(doc store.Document) Person {
	f := store.Fields(doc.Data)
	p := Person{
		OwnerID: doc.Path.ID(), Overlays: map[string]OverlayCalendar{}, HeldSince: map[string]time.Time{},
		HeldEvents: map[string]string{}, PlanDue: f.Time("planDue"),
		PlanGeneration: f.Int("planGeneration"), PlanAfter: f.String("planAfter"),
		SharesAvailability: f.Bool("sharesAvailability"), UpdatedAt: f.Time("updatedAt"),
	}
	overlays := f.Map("overlays")
	for account := range overlays {
		p.Overlays[account] = decodeOverlay(overlays.Map(account))
	}
	for _, item := range f.List("followed") {
		fields, _ := item.(map[string]any)
		place := store.Fields(fields)
		p.Followed = append(p.Followed, Place{AccountID: place.String("accountId"), CalendarID: place.String("calendarId")})
	}
	held := f.Map("heldSince")
	for key := range held {
		p.HeldSince[key] = held.Time(key)
	}
	missing := f.Map("heldEvents")
	for key := range missing {
		p.HeldEvents[key] = missing.String(key)
	}
	return p
}

// EncodePlaces gives a list of places as a field.
func EncodePlaces(places []Place) []any {
	list := make([]any, 0, len(places))
	for _, place := range places {
		list = append(list, map[string]any{"accountId": place.AccountID, "calendarId": place.CalendarID})
	}
	return list
}

// RequestPlan gives the updates of a person's document, to be merged, that have all events of
// the person planned again.
func (p Person) RequestPlan(now time.Time, trace string) []store.Update {
	return []store.Update{
		store.Set("ownerId", p.OwnerID), store.Set("planDue", now), store.Set("planGeneration", p.PlanGeneration+1),
		store.Set("planAfter", store.Delete), store.Set("planTrace", store.NullIfEmpty(trace)),
		store.Set("planFailures", 0), store.Set("planFailedSince", nil), store.Set("planError", nil), store.Set("updatedAt", now),
	}
}

// LoadPerson reads a person's document, as DecodePerson does.
func LoadPerson(ctx context.Context, reader store.Reader, ownerID string) (Person, error) {
	doc, err := reader.Get(ctx, PersonPath(ownerID))
	if err != nil {
		return Person{}, err
	}
	return DecodePerson(doc), nil
}
