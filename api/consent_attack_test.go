package api_test

import (
	"net/http"
	"strings"
	"testing"

	"questscheduler/demo/sim/google"
)

// comes is what a browser without Sec-Fetch-* headers does with an address of
// ours: it follows it with its cookies, and keeps what it is given.
func (w *world) comes(address string, cookies []*http.Cookie) (page, []*http.Cookie) {
	w.t.Helper()
	got := w.visit(address, "", cookies...)
	return got, append(cookies, got.cookies...)
}

// byToken gets an address of ours as a program does, with a person's token, and
// gives where it leads.
func (w *world) byToken(as, address string) string {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, strings.Replace(address, ourURL, w.url, 1), nil)
	must(w.t, err)
	request.Header.Set("Authorization", "Bearer "+w.tokens[as])
	response, err := http.DefaultTransport.RoundTrip(request)
	must(w.t, err)
	must(w.t, response.Body.Close())
	return response.Header.Get("Location")
}

// Each row is what eve sends to a victim, whose browser sends no Sec-Fetch-* headers
// and who consents to anything on Google's page. No account may be linked to eve
// before the page has shown the victim whose account it is.
func TestLinking_VictimWithoutFetchHeaders_LinksNothing(t *testing.T) {
	t.Parallel()
	victim := google.Consent{User: "work"}
	for name, attack := range map[string]func(w *world) (ended page){
		"the address at Google, from a ticket": func(w *world) page {
			sent := w.visit(w.begin("eve", map[string]any{}), "")
			if sent.status != http.StatusFound {
				return sent
			}
			back, err := w.google.Consent(w.t.Context(), sent.location.String(), victim)
			must(w.t, err)
			return w.visit(back, "")
		},
		"the address at Google, from a token": func(w *world) page {
			back, err := w.google.Consent(w.t.Context(), w.byToken("eve", ourURL+"/oauth/google/start"), victim)
			must(w.t, err)
			return w.visit(back, "")
		},
		"the address at Google, from eve's browser": func(w *world) page {
			sent := w.visit(w.begin("eve", map[string]any{}), "same-origin")
			back, err := w.google.Consent(w.t.Context(), sent.location.String(), victim)
			must(w.t, err)
			_, own := w.comes(w.begin("ana", map[string]any{}), nil) // the victim is linking an account too
			return w.visit(back, "", own...)
		},
		"the address with the ticket": func(w *world) page {
			got, kept := w.comes(w.begin("eve", map[string]any{}), nil)
			if got.status == http.StatusFound {
				back, err := w.google.Consent(w.t.Context(), got.location.String(), victim)
				must(w.t, err)
				got, _ = w.comes(back, kept)
			}
			return got
		},
		"the address that eve's own page leads to": func(w *world) page {
			start := w.begin("eve", map[string]any{})
			shown, _ := w.comes(start, nil)
			_, own := w.comes(w.begin("ana", map[string]any{}), nil)
			got, kept := w.comes(wayOn(shown.text, start), own)
			if got.status == http.StatusFound {
				back, err := w.google.Consent(w.t.Context(), got.location.String(), victim)
				must(w.t, err)
				got, _ = w.comes(back, kept)
			}
			return got
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ended := attack(w)
			if ended.status == http.StatusFound {
				t.Errorf("it ends at %s", ended.location)
			}
			w.wantAccounts("eve")
			w.wantAccounts("ana")
		})
	}
}

// wayOn is where the page leads that says for whom an account will be linked;
// otherwise where there is none.
func wayOn(text, otherwise string) string {
	_, after, found := strings.Cut(text, `href="?ticket=`)
	address, _, ended := strings.Cut(after, `"`)
	if !found || !ended {
		return otherwise
	}
	return ourURL + "/oauth/google/start?ticket=" + strings.ReplaceAll(address, "&amp;", "&")
}
