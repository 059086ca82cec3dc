package google

import (
	"errors"
	"html/template"
	"net/http"
	"slices"
)

// consentPage is what a person sees in a demo. Scopes that come with signing in
// are named and cannot be left out.
var consentPage = template.Must(template.New("consent").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Sign in – Google simulator</title>` + pageStyle + `</head><body><main>
<p class="note">Google simulator: no real account is touched.</p>
<h1>{{.Client}} wants access to your Google account</h1>
<form method="post">
<fieldset><legend>Account</legend>
{{range .Users}}<label><input type="radio" name="user" value="{{.Key}}" required{{if .Chosen}} checked{{end}}> {{.Email}}</label>
{{else}}<p>There are no accounts in this simulator.</p>{{end}}</fieldset>
<fieldset><legend>What it may do</legend><input type="hidden" name="granted" value="">
{{range .Fixed}}<label><input type="checkbox" checked disabled> {{.}}</label>
{{end}}{{range .Scopes}}<label><input type="checkbox" name="granted" value="{{.Name}}" checked> {{.Words}}</label>
{{end}}</fieldset>
<p><button name="decision" value="deny" formnovalidate>Cancel</button>
<button name="decision" value="allow" class="go">Continue</button></p>
</form></main></body></html>
`))

var errorPage = template.Must(template.New("error").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Error – Google simulator</title>` + pageStyle + `</head><body><main>
<p class="note">Google simulator</p>
<h1>Access blocked: Authorization Error</h1>
<p>{{.Message}}</p><p>Error {{.Status}}: {{.Code}}</p></main></body></html>
`))

const pageStyle = `<style>
body{font:16px/1.5 system-ui,sans-serif;background:#f3f4f6;color:#1f2937;margin:0}
main{max-width:30rem;margin:10vh auto;padding:2rem;background:#fff;border-radius:.75rem}
h1{font-size:1.3rem} fieldset{border:1px solid #d1d5db;border-radius:.5rem;margin:1rem 0}
label{display:block;padding:.25rem 0} .note{color:#6b7280;font-size:.85rem}
button{font:inherit;padding:.5rem 1.25rem;border:1px solid #9ca3af;border-radius:.5rem;background:#fff}
.go{background:#1d4ed8;border-color:#1d4ed8;color:#fff}
</style>`

// scopeWords tell what a scope allows.
var scopeWords = map[string]string{
	"openid":                  "Know who you are on Google",
	ScopeEmail:                "See your e-mail address",
	ScopeProfile:              "See your name and picture",
	ScopeCalendar:             "See, edit, share and delete all your calendars",
	ScopeCalendarReadonly:     "See all your calendars and their events",
	ScopeEvents:               "View and edit events on all your calendars",
	ScopeEventsReadonly:       "View events on all your calendars",
	ScopeCalendarListReadonly: "See the list of your calendars",
	ScopeAppCreated:           "Make secondary calendars, and see and edit events on them",
	ScopeFreeBusy:             "See when you are busy in your calendars",
	ScopeSheets:               "See, edit and delete all your Google Sheets spreadsheets",
	ScopeSheetsReadonly:       "See all your Google Sheets spreadsheets",
}

type pageUser struct {
	Key, Email string
	Chosen     bool
}

type pageScope struct{ Name, Words string }

func (s *Server) showConsent(w http.ResponseWriter, r *http.Request, a *authRequest, users []*User) {
	data := struct {
		Client string
		Users  []pageUser
		Fixed  []string
		Scopes []pageScope
	}{Client: a.client}
	for _, u := range users {
		data.Users = append(data.Users, pageUser{u.Key, u.Email, a.names(u) || len(users) == 1})
	}
	for _, scope := range a.scopes {
		if slices.Contains(signInScopes, scope) {
			data.Fixed = append(data.Fixed, scopeWords[scope])
		} else {
			data.Scopes = append(data.Scopes, pageScope{scope, scopeWords[scope]})
		}
	}
	s.show(w, r, http.StatusOK, consentPage, data)
}

func (s *Server) showError(w http.ResponseWriter, r *http.Request, err error) {
	var page *pageError
	if !errors.As(err, &page) {
		s.opt.Log.ErrorContext(r.Context(), "google simulator: consent page", "error", err)
		page = &pageError{http.StatusInternalServerError, "server_error", "Something went wrong."}
	}
	s.show(w, r, page.status, errorPage, struct {
		Status        int
		Code, Message string
	}{page.status, page.code, page.message})
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, page *template.Template, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := page.Execute(w, data); err != nil {
		s.opt.Log.DebugContext(r.Context(), "google simulator: page", "error", err) // the person has gone away
	}
}
