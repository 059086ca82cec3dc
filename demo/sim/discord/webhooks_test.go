package discord_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/discord"
)

func original(token string) string { return followup(token) + "/messages/@original" }
func followup(token string) string { return "/api/v10/webhooks/" + discord.BotID + "/" + token }

func TestWebhooks_Deferral_IsEditedWithinFifteenMinutes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		flags string
		list  func(sim) []discord.Message
		kept  int
	}{
		{"ephemeral", "64", sim.ephemerals, 64},
		{"public", "0", func(s sim) []discord.Message { return s.Messages(channel) }, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.answering(`{"type":5,"data":{"flags":` + row.flags + `}}`)
			status, r := s.act(2, `{"name":"quest"}`)
			if list := row.list(s); status != http.StatusOK || len(list) != 1 || list[0].Flags != row.kept|128 {
				t.Fatalf("answer %d %+v, messages %+v", status, r, list)
			}
			s.clock.add(15 * time.Minute)
			a := s.call(http.MethodPatch, original(r.Token), `{"content":"<@5> @everyone","flags":0}`)
			list := row.list(s)
			if a.status != http.StatusOK || len(list) != 1 || list[0].Flags != row.kept || list[0].MentionEveryone || len(list[0].Mentions) != 1 {
				t.Errorf("edit: %d %s, messages %+v", a.status, a.body, list)
			}
			s.clock.add(time.Millisecond)
			wantRefusal(t, s.call(http.MethodPatch, original(r.Token), `{"content":"late"}`), 401, 50027, "Invalid Webhook Token")
			wantRefusal(t, s.call(http.MethodPost, followup(r.Token), `{"content":"late"}`), 401, 50027, "Invalid Webhook Token")
		})
	}
}

func TestWebhooks_NoBotToken_IsNeeded(t *testing.T) {
	t.Parallel()
	s := start(t, func(o *discord.Options) { o.GlobalLimit = 1 })
	s.answering(hello)
	_, r := s.act(2, `{"name":"quest"}`)
	for range 3 {
		req, err := http.NewRequest(http.MethodPatch, s.url+original(r.Token), strings.NewReader(`{"content":"edited"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Errorf("answer %d", res.StatusCode)
		}
	}
}

func TestWebhooks_DeferredUpdate_EditsThePressedMessage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.answering(`{"type":6}`)
	m := s.post(`{"content":"open","components":[` + voteRow + `]}`)
	_, r := s.act(3, `{"custom_id":"vote"}`, `"message_id":"`+m.ID+`"`)
	s.call(http.MethodPatch, original(r.Token), `{"content":"closed"}`)
	if list := s.Messages(channel); len(list) != 1 || list[0].Content != "closed" || len(list[0].Components) != 1 {
		t.Errorf("messages %+v", list)
	}
}

func TestWebhooks_Followup(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		answer string
		want   []string
	}{
		"after an answer is another message": {hello, []string{"hello", "more", "again"}},
		"after a deferral is the answer":     {`{"type":5,"data":{"flags":64}}`, []string{"more", "again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.answering(row.answer)
			_, r := s.act(2, `{"name":"quest"}`)
			for _, content := range []string{"more", "again"} {
				if a := s.call(http.MethodPost, followup(r.Token), `{"content":"`+content+`","flags":64}`); a.status != http.StatusOK {
					t.Errorf("%s: %d %s", content, a.status, a.body)
				}
			}
			var got []string
			for _, m := range s.ephemerals() {
				got = append(got, m.Content)
			}
			if strings.Join(got, ",") != strings.Join(row.want, ",") {
				t.Errorf("ephemerals %v", got)
			}
		})
	}
}

func TestWebhooks_Refusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	var early answer
	s.asking(func(body string) string {
		_, rest, _ := strings.Cut(body, `"token":"`)
		token, _, _ := strings.Cut(rest, `"`)
		early, _ = s.try(http.MethodPatch, original(token), `{"content":"early"}`)
		return `{"type":9,"data":{"title":"t","custom_id":"m","components":[{"type":10,"content":"x"}]}}`
	})
	status, r := s.act(2, `{"name":"quest"}`)
	if status != http.StatusOK {
		t.Fatalf("answer %d %+v", status, r)
	}
	wantRefusal(t, early, 404, 10015, "Unknown Webhook")
	wantRefusal(t, s.call(http.MethodPatch, original(r.Token), `{"content":"x"}`), 404, 10008, "Unknown Message")
	wantRefusal(t, s.call(http.MethodPost, followup("x"), `{"content":"x"}`), 404, 10015, "Unknown Webhook")
	foreign := strings.Replace(followup(r.Token), discord.BotID, "5", 1)
	wantRefusal(t, s.call(http.MethodPost, foreign, `{"content":"x"}`), 404, 10015, "Unknown Webhook")
	wantRefusal(t, s.call(http.MethodPost, followup(r.Token), `{"content":""}`), 400, 50006, "Cannot send an empty message")
	wantRefusal(t, s.call(http.MethodPost, followup(r.Token), `{"content":"x","flags":128}`), 400, 50035, "Invalid Form Body")
}
