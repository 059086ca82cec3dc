package accounts

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"questscheduler/internal/accounts/seal"
	"questscheduler/internal/test/memorystore"
	"questscheduler/internal/test/roundtrip"
)

func TestAccount_EveryField_IsStored(t *testing.T) {
	t.Parallel()
	roundtrip.Check(t, roundtrip.Codec[Account]{Through: func(a Account) Account {
		return Decode(roundtrip.Kept(t, Path(a.ID), roundtrip.Whole(encode(a))))
	}})
}

func TestState_EveryField_ComesBack(t *testing.T) {
	t.Parallel()
	documents, err := memorystore.Open(Queries)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := seal.ParseKeys("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	if err != nil {
		t.Fatal(err)
	}
	roundtrip.Check(t, roundtrip.Codec[state]{
		Through: func(begun state) state {
			begun.ID += map[bool]string{true: " by another account"}[begun.Ask.AnyIdentity]
			accounts := New(Options{Store: documents, Keys: keys, Now: time.Now})
			sealed, err := accounts.begin(t.Context(), begun)
			if err != nil {
				t.Fatal(err)
			}
			back, err := accounts.end(t.Context(), Back{State: sealed, Browser: "the browser's secret"})
			if err != nil {
				t.Fatal(err)
			}
			back.ID, _, _ = strings.Cut(back.ID, " ")
			return back
		},
		Fixed: map[string]any{"Browser": hashBrowser("the browser's secret")},
		Lost:  map[string]string{"Browser": "it is compared, and not given back"},
	})
}
