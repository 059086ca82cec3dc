package calendarsync

import (
	"context"
	"time"

	"questscheduler/internal/accounts"
	"questscheduler/internal/outbox"
	"questscheduler/internal/store"
	"questscheduler/scheduler"
)

// LinkKind is the kind of the outbox whose entries are the accounts that are Due.
const LinkKind = "link"

// Work is the kind that carries on the changes of accounts that were not carried on at once:
// Google refused the grant, or Follow failed. It does so whatever QS_SYNC says. While Google
// does not answer it tries once a minute, since a person waits for their grant to be given
// back; half an hour of that is usual, for copies that an account leaves behind.
func (l *Links) Work() outbox.Kind {
	return outbox.Kind{
		Name: LinkKind, Does: "linked accounts", Path: accounts.Path, Due: accounts.Due, Codec: linkCodec, Handle: l.handle, Workers: 10,
		Retry: outbox.Retry{Most: time.Minute, Error: 40},
	}
}

// linkCodec is that of accounts. A change of an account correlates what follows from it.
var linkCodec = outbox.Codec{
	Decode: func(doc store.Document) outbox.State {
		state, account := outbox.Fields.Decode(doc), accounts.Decode(doc)
		state.Due, state.Ref = account.Due, account.Change()+"/"+account.Primary()
		state.Trace = account.ID + "/" + account.Change()
		return state
	},
	Encode: outbox.Fields.Encode,
}

// handle carries on the change of an account that a run took. Where the account changed
// since, nothing more is written, and the outbox settles nothing.
func (l *Links) handle(ctx context.Context, item outbox.Item) outbox.Result {
	err := l.follow(ctx, accounts.Decode(item.Document), scheduler.Cause{Trigger: LinkKind, Trace: item.State.Trace})
	if err != nil {
		return outbox.Failed(err)
	}
	return outbox.Done()
}
