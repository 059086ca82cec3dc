package notify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"questscheduler/demo/sim/control"
	"questscheduler/internal/poll"
	"questscheduler/internal/store"
	"questscheduler/notify"
	"questscheduler/rules"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds a value against testdata/name.json.
func golden(t *testing.T, name string, got any) {
	t.Helper()
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if body, sent := got.(json.RawMessage); sent {
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
	}
	if err := enc.Encode(got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text.Bytes(), want) {
		t.Errorf("%s is\n%s\nand should be\n%s\n(go test ./notify -update writes it anew)", path, text.Bytes(), want)
	}
}

// bodies keeps what is sent to Discord.
type bodies struct {
	next http.RoundTripper
	sent []json.RawMessage
}

func (b *bodies) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		b.sent = append(b.sent, body)
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return b.next.RoundTrip(req)
}

func (b *bodies) last(t *testing.T) json.RawMessage {
	t.Helper()
	if len(b.sent) == 0 {
		t.Fatal("nothing was sent")
	}
	return b.sent[len(b.sent)-1]
}

// recorded is a world whose calls to Discord are kept.
func recorded(t *testing.T) (*world, *bodies) {
	t.Helper()
	w := newWorld(t)
	kept := &bodies{next: control.Transport(w.discord.Handler())}
	client, err := notify.NewDiscordClient(token, "http://sim", kept)
	if err != nil {
		t.Fatal(err)
	}
	w.onDiscord.API = client
	return w, kept
}

func TestGolden_CardMessageAndDocumentInEachState(t *testing.T) {
	t.Parallel()
	w, kept := recorded(t)
	w.checkCard()
	golden(t, "card-open", kept.last(t))
	w.finalise()
	w.want("gm", 0)
	w.mustEnd()
	golden(t, "card-finalised", kept.last(t))
	for _, step := range []struct {
		name   string
		change func()
		notice rules.Notice
	}{
		{"rescheduled", func() { w.move(moved) }, rules.NoticeRescheduled},
		{"restored", w.restore, rules.NoticeRestored},
		{"cancelled", w.cancel, rules.NoticeCancelled},
		{"on-again", w.revive, rules.NoticeOnAgain},
	} {
		step.change()
		ref := w.want("gm", 0)
		kept.sent = nil
		w.mustEnd()
		if len(kept.sent) != 2 {
			t.Fatalf("%s: %d calls, want a message and a card", step.name, len(kept.sent))
		}
		golden(t, "line-"+step.name, kept.sent[0])
		golden(t, "card-"+step.name, kept.sent[1])
		doc, err := w.store.Get(context.Background(), notify.NotificationPath("ana", "dedupe:"+ref))
		if err != nil || !doc.Exists() {
			t.Fatalf("%s: no document: %v", step.name, err)
		}
		golden(t, "in-app-"+step.name, doc.Data)
	}
}

// Nothing answers the Vote button of a server without the web app's functions: its cards
// link to the poll, or have no button, and those drawn before are edited once.
func TestGolden_CardThatNothingAnswers_HasNoVoteButton(t *testing.T) {
	t.Parallel()
	for name, appURL := range map[string]string{"card-open-link": appURL, "card-open-plain": ""} {
		w, kept := recorded(t)
		w.checkCard()
		w.onDiscord.Votes, w.onDiscord.AppURL, kept.sent = false, appURL, nil
		for range 2 {
			if _, err := w.onDiscord.DrawCard(t.Context(), pollID, notify.Drawing{}); err != nil {
				t.Fatal(err)
			}
		}
		if len(kept.sent) != 1 {
			t.Fatalf("%s: the card was edited %d times", name, len(kept.sent))
		}
		golden(t, name, kept.last(t))
		if cards := w.cards(channel); len(cards) != 1 || (len(cards[0].Components) > 0) != (appURL != "") {
			t.Errorf("%s: cards %+v", name, cards)
		}
		w.finalise()
		w.want("gm", 0)
		w.mustEnd()
		golden(t, strings.Replace(name, "open", "finalised", 1), kept.last(t))
	}
}

// A card whose answer was lost is found again by its link.
func TestCard_WithALinkWhoseAnswerWasLost_IsPostedOnce(t *testing.T) {
	t.Parallel()
	w, _ := recorded(t)
	w.onDiscord.Votes = false
	w.plant(control.Rule{Match: "messages.create", LostAnswer: true, Times: 1})
	w.makeCardPending()
	w.run()
	w.clock.add(time.Hour) // its nonce is used no more
	w.toTheEnd()
	if cards := w.cards(channel); len(cards) != 1 {
		t.Errorf("%d cards", len(cards))
	}
}

func TestGolden_TitleWithLinks(t *testing.T) {
	t.Parallel()
	w, kept := recorded(t)
	w.set(poll.Set("title", "[Prize](https://evil.example) <https://evil.example> http://evil.example/x discord.gg/abc </roll:1> <#2>"))
	w.finalise()
	w.want("gm", 0)
	w.mustEnd()
	kept.sent = nil
	w.cancel()
	w.want("gm", 0)
	w.mustEnd()
	golden(t, "line-links", kept.sent[0])
	golden(t, "card-links", kept.sent[1])
}

func TestGolden_AllDayAndNoZoneAndARole(t *testing.T) {
	t.Parallel()
	days, err := rules.Days("2027-02-03", "2027-02-05")
	if err != nil {
		t.Fatal(err)
	}
	w, kept := recorded(t)
	w.setGroup("notifyRoleId", roleID)
	w.set(poll.Set("title", "  @everyone:\n*raid* <@&1> {time}  "), poll.Set("timezone", "Nowhere/Land"))
	w.finalise()
	w.want("gm", 0)
	w.mustEnd()
	kept.sent = nil
	w.move(days)
	ref := w.want("ana", 0)
	w.mustEnd()
	golden(t, "line-all-day", kept.sent[0])
	golden(t, "card-all-day", kept.sent[1])
	doc, err := w.store.Get(context.Background(), notify.NotificationPath("gm", "dedupe:"+ref))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "in-app-all-day", doc.Data)
	w.move(moved)
	ref = w.want("gm", 0)
	w.mustEnd()
	doc, err = w.store.Get(context.Background(), notify.NotificationPath("cho", "dedupe:"+ref))
	if err != nil {
		t.Fatal(err)
	}
	if got := store.Fields(doc.Data).String("body"); got != "Session '@everyone: *raid* <@&1> {time}' has been rescheduled to "+
		"Wednesday, 3 February 2027, 19:30 (UTC): no longer all day. It was planned for Wednesday, 3 February 2027 – Thursday, 4 February 2027." {
		t.Errorf("without a known zone: %q", got)
	}
}
