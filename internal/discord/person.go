package discord

import (
	"cmp"
	"context"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

// CodeNotLinked is of NotFound: a Discord user is linked to nobody.
const CodeNotLinked = "discord_not_linked"

// User is a user of Discord, as an interaction names them.
type User struct{ ID, Username, GlobalName, AvatarHash string }

// Name is what Discord shows for the user where a guild gives no other name.
func (u User) Name() string { return cmp.Or(u.GlobalName, u.Username, u.ID) }

// maxPhotoURL is how long the address of a picture may be in a vote, by firestore.rules.
const maxPhotoURL = 2048

// Person is the person to whom a Discord user is linked.
type Person struct {
	UID string
	// PhotoURL is the person's picture as the web app keeps it; "" for none.
	PhotoURL string
	// Zone is the time zone that the person reads times in, by the web app's settings; "" where
	// they chose none, or read times in each poll's.
	Zone string
	// New says that they are nobody yet: their first effect makes them (Links.Make).
	New bool
}

// PersonOf reads to whom a Discord user is linked, in two reads. Link and profile must name each
// other: an older link that was left behind is none. NotFound with CodeNotLinked where they are
// linked to nobody.
func PersonOf(ctx context.Context, reader store.Reader, userID string) (Person, error) {
	link, err := reader.Get(ctx, linkPath(userID))
	if err != nil {
		return Person{}, err
	}
	person := Person{UID: store.Fields(link.Data).String("qsUserId")}
	profile := profilePath(person.UID)
	if person.UID == "" || profile.Valid() != nil {
		return Person{}, errNotLinked()
	}
	document, err := reader.Get(ctx, profile)
	if err != nil {
		return Person{}, err
	}
	if stateOf(document).User.ID != userID {
		return Person{}, errNotLinked()
	}
	fields := store.Fields(document.Data)
	settings := fields.Map("settings")
	if photo := fields.String("photoURL"); len(photo) <= maxPhotoURL {
		person.PhotoURL = photo
	}
	if converts, set := settings["autoConvertPollTimes"].(bool); !set || converts {
		person.Zone = settings.String("timezone")
	}
	return person, nil
}

func errNotLinked() error {
	return &fault.Error{Kind: fault.NotFound, Code: CodeNotLinked, Message: "Your Discord user is linked to nobody here."}
}

// State is a person's link.
type State struct {
	// User is the linked user; its ID is "" where none is linked.
	User User
	At   time.Time
}

// StateOf reads a person's link.
func StateOf(ctx context.Context, reader store.Reader, uid string) (State, error) {
	document, err := reader.Get(ctx, profilePath(uid))
	if err != nil {
		return State{}, err
	}
	return stateOf(document), nil
}

func stateOf(profile store.Document) State {
	f := store.Fields(profile.Data).Map("discord")
	return State{
		User: User{ID: f.String("userId"), Username: f.String("username"), GlobalName: f.String("globalName"), AvatarHash: f.String("avatarHash")},
		At:   f.Time("linkedAt"),
	}
}

// Name is how a person is named on Discord: by UserID where they are linked, else by DisplayName,
// which is "" where they show none.
type Name struct{ UserID, DisplayName string }

// NamesOf reads the names of people, in their order.
func NamesOf(ctx context.Context, reader store.Reader, uids []string) (names []Name, err error) {
	var paths []store.Path
	for _, uid := range uids {
		if path := profilePath(uid); path.Valid() == nil {
			paths = append(paths, path)
		}
	}
	documents, err := reader.GetAll(ctx, paths)
	for _, document := range documents {
		name := Name{UserID: stateOf(document).User.ID, DisplayName: store.Fields(document.Data).String("displayName")}
		if !IsSnowflake(name.UserID) {
			name.UserID = ""
		}
		names = append(names, name)
	}
	return names, err
}

// IsSnowflake tells one of Discord's ids from other text, which clients may have written.
func IsSnowflake(text string) bool {
	return text != "" && len(text) <= 20 && strings.Trim(text, "0123456789") == ""
}

func linkPath(userID string) store.Path { return store.Doc("discordUserLinks", userID) }

func profilePath(uid string) store.Path { return store.Doc("users", uid) }

func publicPath(uid string) store.Path { return store.Doc("usersPublic", uid) }
