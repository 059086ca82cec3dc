package accounts_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"questscheduler/fault"
	"questscheduler/internal/accounts"
	"questscheduler/internal/store"
)

// webApp is a refresh token as the web app's functions keep it, under a key of
// 32 equal bytes.
func webApp(t *testing.T, key byte, token string) map[string]any {
	t.Helper()
	block, err := aes.NewCipher([]byte(strings.Repeat(string(key), 32)))
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	iv := []byte("twelve bytes")
	made := gcm.Seal(nil, iv, []byte(token), nil)
	b64 := base64.StdEncoding.EncodeToString
	return map[string]any{"iv": b64(iv), "data": b64(made[:len(made)-16]), "tag": b64(made[len(made)-16:])}
}

// put writes a document whole.
func (w *world) put(t *testing.T, path store.Path, data map[string]any) {
	t.Helper()
	err := w.store.Run(t.Context(), func(_ context.Context, tx store.Tx) error { return tx.Set(path, data) })
	if err != nil {
		t.Fatal(err)
	}
}

// old gives a person a token of the web app's, of an account that the simulator
// knows, and another secret beside it.
func (w *world) old(t *testing.T, person string, shape func(token string) any) {
	t.Helper()
	grant, err := w.google.AddUser(googleUser(person))
	if err != nil {
		t.Fatal(err)
	}
	w.put(t, store.Doc("userSecrets", person), map[string]any{
		"googleCalendar": map[string]any{"refreshToken": shape(grant.RefreshToken), "updatedAt": noon},
		"discord":        map[string]any{"token": "the web app's own"},
	})
	w.put(t, store.Doc("users", person), map[string]any{
		"email": "sign-in@example.test",
		"settings": map[string]any{
			"linkedCalendarEmail": strings.ToUpper(person) + "@example.test",
			"googleCalendarIds":   []any{"club@group", person + "@example.test"},
		},
	})
}

func (w *world) backfill(t *testing.T, how accounts.Backfill) accounts.Backfilled {
	t.Helper()
	done, err := w.accounts.BackfillTokens(t.Context(), how)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func TestBackfill_EveryShapeBecomesALinkedAccount(t *testing.T) {
	t.Parallel()
	for name, shape := range map[string]func(t *testing.T, token string) any{
		"the web app's": func(t *testing.T, token string) any { return webApp(t, 'a', token) },
		"base64 of all parts": func(t *testing.T, token string) any {
			parts := webApp(t, 'a', token)
			var joined []byte
			for _, part := range []string{"iv", "data", "tag"} {
				raw, err := base64.StdEncoding.DecodeString(parts[part].(string))
				if err != nil {
					t.Fatal(err)
				}
				joined = append(joined, raw...)
			}
			return base64.StdEncoding.EncodeToString(joined)
		},
		"plain": func(_ *testing.T, token string) any { return token },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.old(t, "gm", func(token string) any { return shape(t, token) })
			before := w.document(t, store.Doc("userSecrets", "gm"))
			if got, want := w.backfill(t, accounts.Backfill{DryRun: true}), (accounts.Backfilled{Read: 1, Linked: 1}); got != want {
				t.Errorf("dry run: %+v, want %+v", got, want)
			}
			if _, err := w.accounts.Default(t.Context(), "gm"); !fault.Is(err, fault.Revoked) {
				t.Errorf("the dry run linked something: %v", err)
			}
			if got, want := w.backfill(t, accounts.Backfill{}), (accounts.Backfilled{Read: 1, Linked: 1}); got != want {
				t.Errorf("first run: %+v, want %+v", got, want)
			}
			account, err := w.accounts.Default(t.Context(), "gm")
			if err != nil || account.Sub != "" || account.Email != "gm@example.test" || !account.Owns("club@group") || !account.Due.IsZero() {
				t.Errorf("the account is %+v, %v", account, err)
			}
			w.wantOK(t, account.ID)
			if sealed := w.secret(t, account.ID); !strings.HasPrefix(sealed, "v1.k1.") {
				t.Errorf("its token is kept as %.8s", sealed)
			}
			if got, want := w.backfill(t, accounts.Backfill{}), (accounts.Backfilled{Read: 2, Already: 2}); got != want {
				t.Errorf("second run: %+v, want %+v", got, want)
			}
			if after := w.document(t, store.Doc("userSecrets", "gm")); !reflect.DeepEqual(before, after) {
				t.Errorf("the web app's own is %v, was %v", after, before)
			}

			// It is known again by its e-mail address, and its identity with it.
			if again := w.relink(t, "gm", "gm"); again.ID != account.ID || again.Sub != "sub-gm" {
				t.Errorf("linked again it is %+v", again)
			}
			if got, want := w.backfill(t, accounts.Backfill{RemoveOld: true}), (accounts.Backfilled{Read: 2, Already: 2, Removed: 1}); got != want {
				t.Errorf("last run: %+v, want %+v", got, want)
			}
			left := store.Fields(w.document(t, store.Doc("userSecrets", "gm")))
			if left.Map("googleCalendar").Has("refreshToken") || !left.Map("discord").Has("token") {
				t.Errorf("of the web app's own is left: %v", left)
			}
			w.wantOK(t, account.ID)
		})
	}
}

func TestBackfill_ATokenThatCannotBeRead_HoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.old(t, "ana", func(token string) any { return webApp(t, 'z', token) })
	w.old(t, "ben", func(string) any { return "some rubbish" })
	w.old(t, "gm", func(token string) any { return token })
	var problems []string
	how := accounts.Backfill{RemoveOld: true, Problem: func(where string, err error) {
		problems = append(problems, where)
		if !strings.Contains(err.Error(), "QS_ENC_KEYS") || strings.Contains(err.Error(), "rubbish") {
			t.Errorf("it says %v", err)
		}
	}}
	if got, want := w.backfill(t, how), (accounts.Backfilled{Read: 3, Linked: 1, Removed: 1, Problems: 2}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if want := []string{"userSecrets/ana", "userSecrets/ben"}; !reflect.DeepEqual(problems, want) {
		t.Errorf("problems of %v, want %v", problems, want)
	}
	for _, person := range []string{"ana", "ben"} {
		if !store.Fields(w.document(t, store.Doc("userSecrets", person))).Map("googleCalendar").Has("refreshToken") {
			t.Errorf("the token of %s was removed unread", person)
		}
	}
}

func TestBackfill_SealsUnderTheFirstKey_SoThatTheOldOneCanGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gm, ana := w.link(t, "gm", "gm").ID, w.link(t, "ana", "ana").ID
	w.put(t, store.Doc("accountSecrets", ana), map[string]any{"refreshToken": webApp(t, 'a', "1//older"), "ownerId": "ana"})
	w.use(t, "k2:"+rawKey('b')+",k1:"+rawKey('a'))
	if got, want := w.backfill(t, accounts.Backfill{DryRun: true}), (accounts.Backfilled{Read: 2, Resealed: 2}); got != want {
		t.Errorf("dry run: %+v, want %+v", got, want)
	}
	if sealed := w.secret(t, gm); !strings.HasPrefix(sealed, "v1.k1.") {
		t.Errorf("the dry run sealed %.8s", sealed)
	}
	if got, want := w.backfill(t, accounts.Backfill{}), (accounts.Backfilled{Read: 2, Resealed: 2}); got != want {
		t.Errorf("first run: %+v, want %+v", got, want)
	}
	w.use(t, "k2:"+rawKey('b'))
	w.wantOK(t, gm)
	if got, want := w.backfill(t, accounts.Backfill{}), (accounts.Backfilled{Read: 2, Already: 2}); got != want {
		t.Errorf("without the old key: %+v, want %+v", got, want)
	}
}

// dying is a store that fails after some transactions.
type dying struct {
	store.Store
	left int
}

var errDied = errors.New("it died")

func (d *dying) Run(ctx context.Context, fn func(context.Context, store.Tx) error) error {
	d.left--
	if d.left < 0 {
		return errDied
	}
	return d.Store.Run(ctx, fn)
}

func TestBackfill_CutOffAnywhere_IsGoneOnWith(t *testing.T) {
	t.Parallel()
	const people = 230 // more than two pages
	w := newWorld(t)
	for i := range people {
		name := fmt.Sprintf("p%03d", i)
		w.put(t, store.Doc("userSecrets", name), map[string]any{"googleCalendar": map[string]any{"refreshToken": "1//" + name}})
	}
	for runs := 0; ; runs++ {
		if runs > 10 {
			t.Fatal("it does not come to its end")
		}
		_, err := w.repository(t, &dying{w.store, 60 + runs*200}, "k1:"+rawKey('a')).BackfillTokens(t.Context(), accounts.Backfill{})
		if err == nil {
			break
		}
		if !errors.Is(err, errDied) {
			t.Fatal(err)
		}
	}
	for i := range people {
		all, err := w.accounts.List(t.Context(), fmt.Sprintf("p%03d", i))
		if err != nil || len(all) != 1 {
			t.Fatalf("p%03d has %d accounts, %v", i, len(all), err)
		}
	}
	if got, want := w.backfill(t, accounts.Backfill{}), (accounts.Backfilled{Read: 2 * people, Already: 2 * people}); got != want {
		t.Errorf("once more: %+v, want %+v", got, want)
	}
}

func TestBackfill_AnUnlinkedAccount_DoesNotComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.old(t, "gm", func(token string) any { return token })
	w.backfill(t, accounts.Backfill{})
	account, err := w.accounts.Default(t.Context(), "gm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.accounts.Unlink(t.Context(), "gm", account.ID); err != nil {
		t.Fatal(err)
	}
	w.backfill(t, accounts.Backfill{})
	if _, err := w.accounts.Default(t.Context(), "gm"); !fault.Is(err, fault.Revoked) {
		t.Errorf("it is linked again: %v", err)
	}
}
