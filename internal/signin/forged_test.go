package signin_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/fault"
	"questscheduler/internal/signin"
	"questscheduler/internal/test/tokentest"
)

const project = "quest-party"

// account is the machine of the tests, and audience what it calls.
const (
	account  = "tasks@quest-party.iam.gserviceaccount.com"
	audience = "https://api.party.example"
)

func newFirebase(t *testing.T, issuer *tokentest.Issuer, revoked signin.Revocations) *signin.Firebase {
	t.Helper()
	c := &clock{at: noon}
	firebase, err := signin.NewFirebase(signin.FirebaseOptions{
		Project: project, Keys: signin.NewHTTPKeys(issuer.URL+"/jwks", http.DefaultClient, c.now), Revoked: revoked, Now: c.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return firebase
}

func newMachines(issuer *tokentest.Issuer, accounts ...string) *signin.Machines {
	c := &clock{at: noon}
	return signin.NewMachines(signin.MachineOptions{
		Keys: signin.NewIssuerKeys(issuer.URL, http.DefaultClient, c.now), Issuers: []string{issuer.URL},
		Audiences: []string{audience, audience + "/jobs/drain"}, Accounts: accounts, Now: c.now,
	})
}

// wantSame fails unless a token was refused with the one answer.
func wantSame(t *testing.T, what, token string, err error) {
	t.Helper()
	same, ok := fault.New(fault.Internal, ""), false
	if e, is := err.(*fault.Error); is { //nolint:errorlint // it is the outermost that is answered
		same, ok = e, true
	}
	if !ok || same.Kind != fault.Unauthenticated || same.Code != signin.CodeRefused ||
		same.Message != "The bearer token is not good, or not any more. Sign in again." || same.RetryAfter != 0 || len(same.Details) > 0 {
		t.Errorf("%s: refused with %+v", what, err)
	}
	if err != nil && len(token) > 16 && strings.Contains(err.Error(), token) {
		t.Errorf("%s: the error holds the token", what)
	}
}

func TestFirebase_ValidToken_ReturnsItsPerson(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	claims := tokentest.Person(project, "ana", noon).With(tokentest.Claims{"email": "Ana@Party.Example", "admin": true})
	got, err := newFirebase(t, issuer, nil).Verify(t.Context(), issuer.Sign(claims))
	want := signin.Person{UID: "ana", Email: "ana@party.example", Name: "ana", EmailVerified: true, VouchedFor: true, SignedIn: noon}
	if err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestFirebase_ByProvider_VouchesForThePerson(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	firebase := newFirebase(t, issuer, nil)
	for _, row := range []struct {
		provider string
		claims   tokentest.Claims
		want     bool
	}{
		{"password", nil, true},
		{"google.com", tokentest.Claims{"email_verified": false}, true},
		{"custom", tokentest.Claims{"email": nil, "email_verified": nil}, true},
		{"password", tokentest.Claims{"email_verified": false}, false},
		{"github.com", tokentest.Claims{"email_verified": nil}, false},
		{"anonymous", tokentest.Claims{"email": nil, "email_verified": nil}, false},
	} {
		signedIn := tokentest.Claims{"firebase": map[string]any{"sign_in_provider": row.provider}}
		claims := tokentest.Person(project, "ana", noon).With(signedIn).With(row.claims)
		got, err := firebase.Verify(t.Context(), issuer.Sign(claims))
		if err != nil || got.VouchedFor != row.want {
			t.Errorf("%s with %v: %v, %v", row.provider, row.claims, got.VouchedFor, err)
		}
	}
}

func TestFirebase_ForgedToken_GetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	firebase, good := newFirebase(t, issuer, nil), tokentest.Person(project, "ana", noon)
	forged := issuer.Forged(good, noon)
	for what, changed := range map[string]tokentest.Claims{
		"signed in later":         {"auth_time": noon.Add(time.Hour).Unix()},
		"never signed in":         {"auth_time": nil},
		"a subject too long":      {"sub": strings.Repeat("u", 129)},
		"a subject with a slash":  {"sub": "a/b"},
		"somebody of a tenant":    {"firebase": map[string]any{"tenant": "players-x1"}},
		"a service account's":     tokentest.Machine(signin.GoogleIssuers[0], account, project, noon),
		"of a project that is ''": {"aud": "", "iss": "https://securetoken.google.com/"},
	} {
		forged[what] = issuer.Sign(good.With(changed))
	}
	for what, token := range forged {
		person, err := firebase.Verify(t.Context(), token)
		wantSame(t, what, token, err)
		if person != (signin.Person{}) {
			t.Errorf("%s gave %+v", what, person)
		}
	}
}

func TestFirebase_TokenAtItsLimits_HasTheLeeway(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	firebase := newFirebase(t, issuer, nil)
	for began, good := range map[time.Duration]bool{
		30 * time.Second: true, 31 * time.Second: false, -time.Hour - 30*time.Second: true, -time.Hour - 31*time.Second: false,
	} {
		_, err := firebase.Verify(t.Context(), issuer.Sign(tokentest.Person(project, "ana", noon.Add(began))))
		if (err == nil) != good {
			t.Errorf("issued %v from now: %v", began, err)
		}
	}
}

// ended ends the sign-ins of a person from before a time.
type ended struct {
	uid  string
	at   time.Time
	down bool
}

// Revoked implements signin.Revocations.
func (e ended) Revoked(_ context.Context, uid string, signedIn time.Time) (bool, error) {
	if e.down {
		return false, fault.New(fault.Unavailable, "Firebase does not answer.")
	}
	return uid == e.uid && signedIn.Before(e.at), nil
}

func TestFirebase_RevokedSignIn_IsRefused(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	token := issuer.Sign(tokentest.Person(project, "ana", noon))
	for what, row := range map[string]struct {
		revoked signin.Revocations
		good    bool
	}{
		"ended since":       {ended{uid: "ana", at: noon.Add(time.Second)}, false},
		"ended before":      {ended{uid: "ana", at: noon}, true},
		"somebody else's":   {ended{uid: "ben", at: noon.Add(time.Second)}, true},
		"nobody is there":   {ended{down: true}, false},
		"it is asked of no": {nil, true},
	} {
		_, err := newFirebase(t, issuer, row.revoked).Verify(t.Context(), token)
		switch {
		case (err == nil) != row.good:
			t.Errorf("%s: %v", what, err)
		case what == "nobody is there" && !fault.Is(err, fault.Unavailable):
			t.Errorf("%s: %v", what, err)
		case what == "ended since":
			wantSame(t, what, token, err)
		}
	}
	if _, err := newFirebase(t, issuer, ended{down: true}).Verify(t.Context(), "hello"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a forged token has Firebase asked: %v", err)
	}
}

func TestNewFirebase_WithoutAProject_Fails(t *testing.T) {
	t.Parallel()
	if _, err := signin.NewFirebase(signin.FirebaseOptions{Keys: &signin.HTTPKeys{}}); err == nil {
		t.Error("a verifier was made that takes the tokens of any project")
	}
}

func TestMachines_ConfiguredAccount_IsAdmitted(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	machines := newMachines(issuer, "other@p.iam.gserviceaccount.com", account)
	for _, called := range []string{audience, audience + "/jobs/drain"} {
		got, err := machines.Verify(t.Context(), issuer.Sign(tokentest.Machine(issuer.URL, account, called, noon)))
		if err != nil || got.Email != account {
			t.Errorf("for %s: got %+v, %v", called, got, err)
		}
	}
}

func TestMachines_ForgedToken_GetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	issuer := tokentest.NewIssuer(t)
	machines, good := newMachines(issuer, account), tokentest.Machine(issuer.URL, account, audience, noon)
	forged := issuer.Forged(good, noon)
	for what, changed := range map[string]tokentest.Claims{
		"another account":            {"email": "somebody@elsewhere.iam.gserviceaccount.com"},
		"the account in capitals":    {"email": strings.ToUpper(account)},
		"no account":                 {"email": nil},
		"an unverified account":      {"email_verified": false},
		"an account verified by ''":  {"email_verified": nil},
		"verified in words":          {"email_verified": "true"},
		"another path":               {"aud": audience + "/jobs/cleanup"},
		"a person's, of Firebase":    tokentest.Person(project, "ana", noon),
		"an issuer that is ours too": {"iss": signin.GoogleIssuers[0]},
	} {
		forged[what] = issuer.Sign(good.With(changed))
	}
	for what, token := range forged {
		machine, err := machines.Verify(t.Context(), token)
		wantSame(t, what, token, err)
		if machine != (signin.Machine{}) {
			t.Errorf("%s gave %+v", what, machine)
		}
	}
	for what, nobody := range map[string]*signin.Machines{
		"where no account is configured": newMachines(issuer), "where '' is one": newMachines(issuer, ""),
	} {
		token := issuer.Sign(good.With(tokentest.Claims{"email": ""}))
		_, err := nobody.Verify(t.Context(), token)
		wantSame(t, what, token, err)
	}
}

func TestUnsigned_AcceptsTheEmulatorsTokensOnly(t *testing.T) {
	t.Parallel()
	c := &clock{at: noon}
	unsigned, err := signin.NewUnsigned("demo-party", false, c.now)
	if err != nil {
		t.Fatal(err)
	}
	ana := signin.Person{UID: "ana", Email: "ana@party.example", Name: "Ana", EmailVerified: true, VouchedFor: true, SignedIn: noon}
	token, err := unsigned.Issue(ana, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := unsigned.Verify(t.Context(), token); err != nil || got != ana {
		t.Errorf("got %+v, %v", got, err)
	}
	issuer := tokentest.NewIssuer(t)
	good := tokentest.Person("demo-party", "ana", noon)
	none := map[string]any{"alg": "none", "typ": "JWT"}
	for what, token := range map[string]string{
		"signed":                issuer.Sign(good),
		"said to be signed":     tokentest.Unsigned(t, map[string]any{"alg": "RS256"}, good),
		"another project's":     tokentest.Unsigned(t, none, tokentest.Person("demo-other", "ana", noon)),
		"expired":               tokentest.Unsigned(t, none, tokentest.Person("demo-party", "ana", noon.Add(-2*time.Hour))),
		"nobody's":              tokentest.Unsigned(t, none, good.With(tokentest.Claims{"sub": ""})),
		"with something behind": token + "x",
		"no JWT":                "a.b.",
	} {
		_, err := unsigned.Verify(t.Context(), token)
		wantSame(t, what, token, err)
	}
	if _, err := unsigned.Issue(signin.Person{UID: "a/b"}, time.Hour); !fault.Is(err, fault.Invalid) {
		t.Errorf("a token for nobody: %v", err)
	}
}

func TestNewUnsigned_RealProject_IsRefused(t *testing.T) {
	t.Parallel()
	for _, project := range []string{"", "quest-party", "demo", "x-demo-party"} {
		if _, err := signin.NewUnsigned(project, false, time.Now); err == nil {
			t.Errorf("unsigned tokens are accepted for %q", project)
		}
	}
	if _, err := signin.NewUnsigned("", true, time.Now); err == nil {
		t.Error("unsigned tokens are accepted without a project")
	}
}
