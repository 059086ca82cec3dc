package discord

import (
	"context"
	"slices"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// AllGuilds stands for every guild, among Links.Guilds.
const AllGuilds = "*"

// newcomersADay is how many people interactions make in one guild a day.
const newcomersADay = 50

// uidOf is the uid of the person whom a Discord user is without a link.
func uidOf(userID string) string { return "discord:" + userID }

// PersonIn reads who a Discord user is in a guild: to whom they are linked, or in one of Guilds the
// person, marked New, that their first effect makes (Make). Errors as PersonOf's.
func (l Links) PersonIn(ctx context.Context, user User, guildID string) (Person, error) {
	person, err := PersonOf(ctx, l.Store, user.ID)
	if fault.CodeOf(err) == CodeNotLinked && l.takesIn(guildID) && IsSnowflake(user.ID) {
		return Person{UID: uidOf(user.ID), New: true}, nil
	}
	return person, err
}

func (l Links) takesIn(guildID string) bool {
	return guildID != "" && (slices.Contains(l.Guilds, guildID) || slices.Contains(l.Guilds, AllGuilds))
}

// Make makes the person of a Discord user whom PersonIn marked New, in a transaction that has
// written nothing yet: Discord's signature proves who they are. It does nothing where they were made
// since. Conflict where they were linked to somebody since, RateLimited beyond a guild's share of a day.
func (l Links) Make(ctx context.Context, tx store.Tx, user User, guildID string) error {
	if !l.takesIn(guildID) {
		return errNotLinked()
	}
	uid := uidOf(user.ID)
	known, err := linksOf(ctx, tx, uid, user.ID)
	switch {
	case err != nil:
		return err
	case known.holder == uid && known.state.User.ID == user.ID:
		return nil
	case known.holds && known.holder != uid:
		return fault.New(fault.Conflict, "You were linked to an account just now. Do that again.")
	}
	err = l.count(ctx, tx, countPath("guild:"+guildID), newcomersADay, 24*time.Hour)
	if fault.Is(err, fault.RateLimited) {
		return &fault.Error{
			Kind: fault.RateLimited, Own: true,
			Message: "Too many people of this server are new today. Link an account of yours with /quest me-code, or try again tomorrow.",
		}
	}
	if err == nil {
		err = known.end(tx, uid)
	}
	if err == nil {
		err = link(tx, uid, State{User: user, At: store.Instant(l.Now())}, "interaction")
	}
	if err != nil {
		return err
	}
	return tx.Merge(profilePath(uid), store.Set("displayName", user.Name()))
}
