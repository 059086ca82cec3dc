package discord

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/store"
)

const (
	typeGroupLink = "group-link"
	// typeGroupLinked is a used code, which stays until it expires, for a user who used it and does not
	// know: the answer was lost.
	typeGroupLinked = "group-link-used"
	groupCodeLength = 4 // bytes, in hex: the web app's form
)

// GroupCode is what a group's code stands for: the group, and who made it.
type GroupCode struct{ UID, GroupID string }

// IssueForGroup makes a code that gives a group a channel, in the web app's form, and returns when
// it expires. The caller has checked that the person manages the group. Each person gets a few
// codes an hour, the web app's included: RateLimited beyond that.
func (l Links) IssueForGroup(ctx context.Context, of GroupCode) (code string, expires time.Time, err error) {
	var random [groupCodeLength]byte
	_, _ = rand.Read(random[:]) // it never fails
	code = strings.ToUpper(hex.EncodeToString(random[:]))
	now := store.Instant(l.Now())
	expires = now.Add(codeLives)
	err = l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := l.count(ctx, tx, groupCodesOf(of.UID), codesAnHour, time.Hour); err != nil {
			return err
		}
		return tx.Create(codePath(code), map[string]any{
			"codeHash": hashOf(code), "type": typeGroupLink, "uid": of.UID, "groupId": of.GroupID,
			"createdAt": now, "expiresAt": expires, "attempts": int64(0),
		})
	})
	return code, expires, err
}

// groupCodesOf is where the web app counts a person's codes: by the uid as it is.
func groupCodesOf(uid string) store.Path {
	path := store.Doc(codeCounts, uid)
	if strings.Contains(uid, "/") || path.Valid() != nil {
		return countPath("group:" + uid)
	}
	return path
}

// GroupCodeUse is who uses a group's code, by which interaction, and for which channel.
type GroupCodeUse struct {
	User                 User
	Interaction, Channel string
}

// UseGroupCode runs work with what a code stands for, and uses the code up, in one transaction.
// Nothing is used up where work fails. The same user may use the code again for the same channel
// until it expires, since the answer may have been lost, so work must be idempotent. A wrong,
// otherwise used or expired code is NotFound, and counts against the user: RateLimited after a
// few. Conflict where the interaction used one before.
func (l Links) UseGroupCode(
	ctx context.Context, code string, by GroupCodeUse, work func(ctx context.Context, tx store.Tx, of GroupCode) error,
) error {
	var wrong bool
	err := l.Store.Run(ctx, func(ctx context.Context, tx store.Tx) error {
		wrong = false
		wrongCodes := countPath("wrong:" + by.User.ID)
		read, err := tx.GetAll(ctx, []store.Path{InteractionPath(by.Interaction), codePath(code)})
		if err != nil {
			return err
		}
		if read[0].Exists() {
			return &fault.Error{Kind: fault.Conflict, Code: CodeInteractionDone, Message: "That was done already."}
		}
		if _, _, err := l.counted(ctx, tx, wrongCodes, mostWrongCodes, wrongCodesFor); err != nil {
			return err
		}
		f := store.Fields(read[1].Data)
		wrong = !by.may(f) || !f.Time("expiresAt").After(l.Now())
		if wrong {
			return l.count(ctx, tx, wrongCodes, mostWrongCodes, wrongCodesFor)
		}
		if err := work(ctx, tx, GroupCode{UID: f.String("uid"), GroupID: f.String("groupId")}); err != nil {
			return err
		}
		if err := tx.Update(codePath(code), store.Set("type", typeGroupLinked),
			store.Set("usedBy", by.User.ID), store.Set("usedFor", by.Channel)); err != nil {
			return err
		}
		return tx.Create(InteractionPath(by.Interaction), EncodeInteraction(store.Instant(l.Now())))
	})
	if err == nil && wrong {
		return fault.New(fault.NotFound, "There is no such code, or it expired or was used. Make another one in the group's settings.")
	}
	return err
}

// may reports whether a code's document allows the use: it is a group's, and unused or used so before.
func (by GroupCodeUse) may(code store.Fields) bool {
	switch code.String("type") {
	case typeGroupLink:
		return true
	case typeGroupLinked:
		return code.String("usedBy") == by.User.ID && code.String("usedFor") == by.Channel
	default:
		return false
	}
}
