package discord

import (
	"context"
	"crypto/rand"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/internal/store"
)

// Bounds of codes. A person's code has 65 bits, and is shown to one Discord user alone.
const (
	codeLength     = 13
	codeLives      = 10 * time.Minute
	codesAnHour    = 5
	mostWrongCodes = 5
	wrongCodesFor  = 10 * time.Minute
	typeUserLink   = "user-link"
)

// Links links Discord users to people. All fields are needed. Safe for concurrent use.
type Links struct {
	Store store.Store
	Now   func() time.Time
	// Moves says that a Discord user who is linked to somebody else may be linked anew. Where
	// people sign in with Discord (firebase), that link is the other account's sign-in.
	Moves bool
	// Guilds are those whose users need no link: what they do makes people of them (PersonIn).
	// AllGuilds stands for every guild. Only where Moves.
	Guilds []string
}

// Issue makes a code by which a person links a Discord user, for an interaction, and returns when
// it expires. Each user gets a few codes an hour: RateLimited beyond that. Conflict where the
// interaction got one before.
func (l Links) Issue(ctx context.Context, user User, interaction string) (code string, expires time.Time, err error) {
	code = rand.Text()[:codeLength]
	now := store.Instant(l.Now())
	expires = now.Add(codeLives)
	err = l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := l.count(ctx, tx, countPath("discord:"+user.ID), codesAnHour, time.Hour); err != nil {
			return err
		}
		if err := tx.Create(InteractionPath(interaction), EncodeInteraction(now)); err != nil {
			return err
		}
		return tx.Create(codePath(code), map[string]any{
			"codeHash": hashOf(code), "type": typeUserLink, "discordUserId": user.ID, "username": user.Username,
			"globalName": store.NullIfEmpty(user.GlobalName), "avatarHash": store.NullIfEmpty(user.AvatarHash),
			"createdAt": now, "expiresAt": expires, "attempts": int64(0),
		})
	})
	return code[:4] + "-" + code[4:8] + "-" + code[8:], expires, err
}

// Look says whose code it is, and links nothing. A wrong, used or expired code is NotFound, and
// counts against the person: RateLimited after a few.
func (l Links) Look(ctx context.Context, uid, code string) (user User, err error) {
	err = l.withCode(ctx, uid, code, func(_ context.Context, _ store.Tx, of User, _ bool) error {
		user = of
		return nil
	})
	return user, err
}

// Link links the Discord user of a code to a person, in one transaction over link, profiles and
// code. An older link of the person goes. The same person may repeat it. Conflict where the user
// is linked to somebody else and may not move; other errors as Look's.
func (l Links) Link(ctx context.Context, uid, code string) (state State, err error) {
	err = l.withCode(ctx, uid, code, func(ctx context.Context, tx store.Tx, user User, used bool) error {
		known, err := linksOf(ctx, tx, uid, user.ID)
		if err != nil {
			return err
		}
		if used && known.holder == uid {
			state = known.state
			return nil
		}
		if known.holder != "" && known.holder != uid && !l.Moves {
			return fault.New(fault.Conflict, "This Discord user is linked to another account. Unlink it there first.")
		}
		state = State{User: user, At: store.Instant(l.Now())}
		if err := known.end(tx, uid); err != nil {
			return err
		}
		if err := link(tx, uid, state, "code"); err != nil {
			return err
		}
		return tx.Update(codePath(code), store.Set("usedBy", uid))
	})
	return state, err
}

// Unlink ends a person's link. It may be repeated.
func (l Links) Unlink(ctx context.Context, uid string) error {
	return l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		state, err := StateOf(ctx, tx, uid)
		if err != nil || state.User.ID == "" {
			return err
		}
		known, err := linksOf(ctx, tx, uid, state.User.ID)
		if err != nil {
			return err
		}
		if known.holder == uid {
			if err := tx.Delete(linkPath(state.User.ID)); err != nil {
				return err
			}
		}
		return unlink(tx, uid)
	})
}

// known is what is stored about a person and a Discord user before they are linked.
type known struct {
	// holder is whom the user's link names; "" for nobody. holds: their profile names the user.
	holder string
	holds  bool
	// state is the person's link by their profile, and older that it is another user's, whose
	// link names the person.
	state State
	older bool
}

func linksOf(ctx context.Context, reader store.Reader, uid, userID string) (k known, err error) {
	read, err := reader.GetAll(ctx, []store.Path{linkPath(userID), profilePath(uid)})
	if err != nil {
		return k, err
	}
	k.holder, k.state = store.Fields(read[0].Data).String("qsUserId"), stateOf(read[1])
	if k.holder != "" && k.holder != uid && profilePath(k.holder).Valid() == nil {
		profile, err := StateOf(ctx, reader, k.holder)
		if err != nil {
			return k, err
		}
		k.holds = profile.User.ID == userID
	}
	if k.state.User.ID != "" && k.state.User.ID != userID && IsSnowflake(k.state.User.ID) {
		link, err := reader.Get(ctx, linkPath(k.state.User.ID))
		if err != nil {
			return k, err
		}
		k.older = store.Fields(link.Data).String("qsUserId") == uid
	}
	return k, nil
}

// end ends the links that a new one replaces: what names somebody else stays.
func (k known) end(tx store.Tx, uid string) error {
	if k.holds && k.holder != uid {
		if err := unlink(tx, k.holder); err != nil {
			return err
		}
	}
	if k.older {
		return tx.Delete(linkPath(k.state.User.ID))
	}
	return nil
}

func link(tx store.Tx, uid string, state State, source string) error {
	user := state.User
	err := tx.Merge(linkPath(user.ID), store.Set("qsUserId", uid), store.Set("linkedAt", state.At))
	if err != nil {
		return err
	}
	err = tx.Merge(profilePath(uid), store.Set("discord", map[string]any{
		"userId": user.ID, "username": user.Username, "globalName": store.NullIfEmpty(user.GlobalName),
		"avatarHash": store.NullIfEmpty(user.AvatarHash), "linkedAt": state.At, "linkSource": source,
	}))
	if err != nil {
		return err
	}
	return tx.Merge(publicPath(uid),
		store.Set("discordUsername", user.Username), store.Set("discordUsernameLower", strings.ToLower(user.Username)))
}

func unlink(tx store.Tx, uid string) error {
	err := tx.Merge(profilePath(uid), store.Set("discord", store.Delete))
	if err == nil {
		err = tx.Merge(publicPath(uid), store.Set("discordUsername", store.Delete), store.Set("discordUsernameLower", store.Delete))
	}
	return err
}

// withCode runs work in a transaction that read a code that is valid for a person; used says that
// they used it already. A wrong one is counted, which is the transaction's only write then.
func (l Links) withCode(
	ctx context.Context, uid, code string, work func(ctx context.Context, tx store.Tx, of User, used bool) error,
) error {
	var wrong bool
	err := l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		wrong = false
		if err := l.mayTry(ctx, tx, uid); err != nil {
			return err
		}
		document, err := tx.Get(ctx, codePath(code))
		if err != nil {
			return err
		}
		f := store.Fields(document.Data)
		used := f.String("usedBy")
		wrong = f.String("type") != typeUserLink || !f.Time("expiresAt").After(l.Now()) || used != "" && used != uid
		if wrong {
			return l.count(ctx, tx, countPath("wrong:"+uid), mostWrongCodes, wrongCodesFor)
		}
		return work(ctx, tx, User{
			ID: f.String("discordUserId"), Username: f.String("username"), GlobalName: f.String("globalName"), AvatarHash: f.String("avatarHash"),
		}, used != "")
	})
	if err == nil && wrong {
		return fault.New(fault.NotFound, "There is no such code, or it expired. Ask for another one in Discord: /quest me-code.")
	}
	return err
}

// mayTry is RateLimited where a person gave too many wrong codes.
func (l Links) mayTry(ctx context.Context, reader store.Reader, uid string) error {
	_, _, err := l.counted(ctx, reader, countPath("wrong:"+uid), mostWrongCodes, wrongCodesFor)
	return err
}

// count counts something at a path, of which at most most are allowed in a window.
func (l Links) count(ctx context.Context, tx store.Tx, at store.Path, most int64, window time.Duration) error {
	start, count, err := l.counted(ctx, tx, at, most, window)
	if err != nil {
		return err
	}
	return tx.Merge(at,
		store.Set("windowStart", start), store.Set("count", count+1), store.Set("updatedAt", store.Instant(l.Now())))
}

// counted reads a count in its window; RateLimited where it is full.
func (l Links) counted(
	ctx context.Context, reader store.Reader, at store.Path, most int64, window time.Duration,
) (time.Time, int64, error) {
	document, err := reader.Get(ctx, at)
	if err != nil {
		return time.Time{}, 0, err
	}
	now, f := store.Instant(l.Now()), store.Fields(document.Data)
	start, count := f.Time("windowStart"), f.Int("count")
	if !start.Add(window).After(now) {
		return now, 0, nil
	}
	if count >= most {
		return start, count, &fault.Error{
			Kind: fault.RateLimited, Own: true, RetryAfter: start.Add(window).Sub(now),
			Message: "That is too much at once. Wait some minutes, and go on.",
		}
	}
	return start, count, nil
}

const codeCounts = "discordLinkCodeRateLimits"

// countPath is where a count is. Uids may hold what a path may not, so they are hashed.
func countPath(who string) store.Path {
	kind, of, _ := strings.Cut(who, ":")
	return store.Doc(codeCounts, kind+":"+ids.Of(of).Hex(16))
}

func codePath(code string) store.Path { return store.Doc("discordLinkCodes", hashOf(normal(code))) }

func hashOf(code string) string { return ids.Of(code).Hex(32) }

// normal is a code as it was made, however it was typed.
func normal(code string) string {
	return strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(strings.TrimSpace(code)))
}
