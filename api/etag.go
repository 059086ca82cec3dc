package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"

	"questscheduler/internal/fault"
	"questscheduler/scheduler"
)

// The entity tag of a poll (RFC 9110, section 8.8) names what its readers see. It
// has two parts, "STATE.SYNCED": the poll itself, and when its calendar was last
// read. If-None-Match compares both, If-Match the first alone, since a sync that
// found nothing changed nothing that an edit could overwrite.

func tagOf(p pollAnswer) string {
	synced := ""
	if at := p.Sync.LastSyncedAt; at != nil {
		synced = strconv.FormatInt(at.UnixMicro(), 36)
	}
	return `"` + stateOf(p) + "." + synced + `"`
}

func stateOf(p pollAnswer) string {
	p.Sync.LastSyncedAt = nil
	text, err := json.Marshal(p)
	if err != nil {
		panic("api: a poll does not marshal: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:15])
}

// conditions are the headers that hold tags, and their descriptions.
var conditions = map[trait]struct{ header, description string }{
	ifMatch:     {"If-Match", "The ETag of the poll as one read it: where the poll has changed since, nothing is done and the answer is 412."},
	ifNoneMatch: {"If-None-Match", "The ETag of an earlier answer: where the poll is still that, the answer is 304 without a body."},
}

// conditionPattern is a star or a list of tags.
var conditionPattern = regexp.MustCompile(`^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$`)

const maxCondition = 1000

// anyTag matches every poll.
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
	return func(view scheduler.View) error {
		state := `"` + stateOf(answerPoll(view)) + "."
		if slices.ContainsFunc(tags, func(tag string) bool { return tag == anyTag || strings.HasPrefix(tag, state) }) {
			return nil
		}
		return errStale()
	}
}

func errStale() *failure {
	return &failure{status: http.StatusPreconditionFailed, Problem: problem{
		Code: codeConflict, Message: "The poll changed since you read it. Read it again, and change what it is now.",
		Detail: &detail{Reason: "stale"},
	}}
}

// pollRoute adds a route whose answer is the poll at its path, with its tag.
func pollRoute[In any](s *server, pattern, id string, who audience, summary string, handle handler[In, pollAnswer], traits ...trait) {
	type answer struct {
		Status int
		ETag   string `header:"ETag" doc:"Identifies this state of the poll; for If-None-Match and If-Match."`
		Body   *envelope[pollAnswer]
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
		s.huma.OpenAPI().Paths[described.Path].Get.Responses["304"] = &huma.Response{Description: "The poll is as If-None-Match has it."}
	}
}
