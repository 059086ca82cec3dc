package api

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"questscheduler/fault"
	"questscheduler/internal/ids"
	"questscheduler/mirrors"
	"questscheduler/scheduler"
)

// The entity tag of a poll or an event (RFC 9110, section 8.8) names what its readers see. It
// has two parts, "STATE.REST": the poll and when its calendar was last read, or the event and
// its mirrors. If-None-Match compares both, If-Match the first alone, since a sync that
// found nothing changed nothing that an edit could overwrite, and neither did a mirror.

// tagged is an answer with such a tag.
type tagged interface {
	state() string
	rest() string
}

func tagOf(answer tagged) string { return `"` + answer.state() + "." + answer.rest() + `"` }

func (p pollAnswer) state() string {
	p.Sync.LastSyncedAt = nil
	return digest(p)
}

func (p pollAnswer) rest() string {
	if at := p.Sync.LastSyncedAt; at != nil {
		return strconv.FormatInt(at.UnixMicro(), 36)
	}
	return ""
}

func (e eventAnswer) state() string {
	e.Mirrors = nil
	return digest(e)
}

func (e eventAnswer) rest() string { return digest(e.Mirrors) }

// digest names the JSON of an answer.
func digest(answer any) string {
	text, err := json.Marshal(answer)
	if err != nil {
		panic("api: an answer does not marshal: " + err.Error())
	}
	return ids.Of(string(text)).Base64(15)
}

// conditions are the headers that hold tags, and their descriptions.
var conditions = map[trait]struct{ header, description string }{
	ifMatch:     {"If-Match", "The ETag of what one read: where it has changed since, nothing is done and the answer is 412."},
	ifNoneMatch: {"If-None-Match", "The ETag of an earlier answer: where it is still that, the answer is 304 without a body."},
}

// conditionPattern is a star or a list of tags.
var conditionPattern = regexp.MustCompile(`^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$`)

const maxCondition = 1000

// anyTag matches everything.
const anyTag = "*"

type conditionTags struct{}

func describeCondition(condition trait) *huma.Param {
	most := maxCondition
	return &huma.Param{
		Name: conditions[condition].header, In: "header", Description: conditions[condition].description,
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most, Pattern: conditionPattern.String()},
	}
}

// takeCondition reads the tags of such a header, if it is there.
func takeCondition(condition trait) func(huma.Context) (huma.Context, error) {
	header := conditions[condition].header
	return func(ctx huma.Context) (huma.Context, error) {
		lines := humaecho.Unwrap(ctx).Request().Header.Values(header)
		if len(lines) == 0 {
			return ctx, nil
		}
		list := strings.Join(lines, ",")
		if len(list) > maxCondition || !conditionPattern.MatchString(list) {
			return nil, fault.Field(header, "must be * or entity tags in quotes, as the header ETag gives them")
		}
		tags := strings.Split(list, ",")
		for i := range tags {
			tags[i] = strings.TrimSpace(tags[i])
		}
		return huma.WithValue(ctx, conditionTags{}, tags), nil
	}
}

// tagsOf are the tags of a request's condition; none without one.
func tagsOf(ctx context.Context) []string {
	tags, _ := ctx.Value(conditionTags{}).([]string)
	return tags
}

// matchesWeakly is the comparison of If-None-Match.
func matchesWeakly(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(one string) bool { return one == anyTag || strings.TrimPrefix(one, "W/") == tag })
}

// unchanged is what If-Match demands of a poll within the transaction of an edit;
// nil without that header.
func unchanged(tags []string) func(scheduler.View) error {
	if len(tags) == 0 {
		return nil
	}
	return func(view scheduler.View) error { return matches(tags, answerPoll(view), "poll") }
}

// unchangedEvent is the same of an event.
func unchangedEvent(tags []string) func(mirrors.Shown) error {
	if len(tags) == 0 {
		return nil
	}
	return func(shown mirrors.Shown) error { return matches(tags, answerEvent(shown), "event") }
}

// matches is the comparison of If-Match.
func matches(tags []string, answer tagged, what string) error {
	state := `"` + answer.state() + "."
	if slices.ContainsFunc(tags, func(tag string) bool { return tag == anyTag || strings.HasPrefix(tag, state) }) {
		return nil
	}
	return errStale(what)
}

func errStale(what string) *failure {
	return &failure{status: http.StatusPreconditionFailed, Problem: problem{
		Code: codeConflict, Message: "The " + what + " changed since you read it. Read it again, and change what it is now.",
		Detail: &detail{Reason: "stale"},
	}}
}

// taggedRoute adds a route whose answer has a tag.
func taggedRoute[In any, Out tagged](
	s *server, pattern, id string, who audience, summary string, handle handler[In, Out], traits ...trait,
) {
	type answer struct {
		Status int
		ETag   string `header:"ETag" doc:"Identifies this state; for If-None-Match and If-Match."`
		Body   *envelope[Out]
	}
	described, conditional := s.describe(pattern, id, who, summary, traits), slices.Contains(traits, ifNoneMatch)
	huma.Register(s.huma, described, func(ctx context.Context, in *In) (*answer, error) {
		data, err := serve(ctx, s, handle, in, traits)
		if err != nil {
			return nil, err
		}
		tagged := &answer{Status: http.StatusOK, ETag: tagOf(data), Body: enclose(ctx, s, data)}
		if conditional && matchesWeakly(tagsOf(ctx), tagged.ETag) {
			tagged.Status = http.StatusNotModified
		}
		return tagged, nil
	})
	if conditional { // not before: huma would add no answer for errors
		s.huma.OpenAPI().Paths[described.Path].Get.Responses["304"] = &huma.Response{Description: "It is as If-None-Match has it."}
	}
}
