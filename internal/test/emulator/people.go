package emulator

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// Person is somebody who signs in with Google.
type Person struct {
	UID, Email string
	// Credential is what Google says of them: the emulator takes it in the place
	// of an ID token of Google's.
	Credential string
}

// Add gives somebody an account whose uid begins with a name and is nobody
// else's, and that Google has vouched for.
func (p *People) Add(name string) Person {
	p.t.Helper()
	uid := name + "-" + strings.ToLower(rand.Text())
	person := Person{UID: uid, Email: uid + "@party.example"}
	credential, err := json.Marshal(map[string]any{"sub": "google-" + uid, "email": person.Email, "email_verified": true, "name": name})
	if err != nil {
		p.t.Fatal(err)
	}
	person.Credential = string(credential)
	answer := p.own("accounts:batchCreate", map[string]any{"users": []any{map[string]any{
		"localId": uid, "email": person.Email, "emailVerified": true, "displayName": name,
		"providerUserInfo": []any{map[string]any{"providerId": "google.com", "rawId": "google-" + uid, "email": person.Email}},
	}}})
	if refused, _ := answer["error"].([]any); len(refused) > 0 {
		p.t.Fatalf("the account of %s is refused: %v", uid, refused)
	}
	return person
}

// SignIn signs a person in as Firebase's own client does, and gives their ID
// token.
func (p *People) SignIn(person Person) string {
	p.t.Helper()
	body := url.Values{"providerId": {"google.com"}, "id_token": {person.Credential}}
	answer := p.send("accounts:signInWithIdp?key=none", "", map[string]any{
		"postBody": body.Encode(), "requestUri": "http://localhost", "returnSecureToken": true,
	})
	token, _ := answer["idToken"].(string)
	if uid := answer["localId"]; token == "" || uid != person.UID {
		p.t.Fatalf("%s signs in as %v", person.UID, uid)
	}
	return token
}

// Change changes fields of a person's account, by the names of accounts:update.
func (p *People) Change(person Person, fields map[string]any) {
	p.t.Helper()
	body := maps.Clone(fields)
	body["localId"] = person.UID
	p.own("accounts:update", body)
}

// Remove takes a person's account away.
func (p *People) Remove(person Person) {
	p.t.Helper()
	p.own("accounts:delete", map[string]any{"localId": person.UID})
}

// own asks as who owns the project.
func (p *People) own(method string, body any) map[string]any {
	p.t.Helper()
	return p.send("projects/"+p.Project+"/"+method, "Bearer owner", body)
}

func (p *People) send(method, authorisation string, body any) map[string]any {
	p.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost,
		"http://"+p.Host+"/identitytoolkit.googleapis.com/v1/"+method, bytes.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if authorisation != "" {
		request.Header.Set("Authorization", authorisation)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	var answer map[string]any
	err = errors.Join(json.NewDecoder(response.Body).Decode(&answer), response.Body.Close())
	if err != nil || response.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s, %v (%v)", method, response.Status, answer, err)
	}
	return answer
}
