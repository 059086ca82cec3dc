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

// The entity tag of a poll names what its readers see (RFC 9110, section 8.8):
// a poll that is answered with the same tag has the same data. It has two
// parts, "STATE.LOOKED": the poll itself, and when its calendar was last looked
// at. If-None-Match is about both. If-Match is about the first alone, since a
// look that found nothing changed nothing that an edit could overwrite.

// tagOf is a poll's entity tag, with its quotes.
func tagOf(p pollAnswer) string {
	looked := ""
	if at := p.Sync.LastSyncedAt; at != nil {
		looked = strconv.FormatInt(at.UnixMicro(), 36)
	}
	return `"` + stateOf(p) + "." + looked + `"`
}

// stateOf is the part of a tag that names the poll itself.
func stateOf(p pollAnswer) string {
	p.Sync.LastSyncedAt = nil
	text, err := json.Marshal(p)
	if err != nil {
		panic("api: a poll does not marshal: " + err.Error()) // texts, numbers and times do
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:15])
}

// The headers by which a caller says which tags they have.
const (
	headerIfMatch     = "If-Match"
	headerIfNoneMatch = "If-None-Match"
)

// conditions are the headers, and what the document says of them.
var conditions = map[string]string{
	headerIfMatch:     "The ETag of the poll as one read it: where the poll has changed since, nothing is done and the answer is 412.",
	headerIfNoneMatch: "The ETag of an earlier answer: where the poll is still that, the answer is 304 without a body.",
}

// conditionPattern is a star or a list of tags.
var conditionPattern = regexp.MustCompile(`^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$`)

const maxCondition = 1000

// anyTag, in a condition, stands for whatever is there.
const anyTag = "*"

type conditionTags struct{}

// describeCondition is such a header in the OpenAPI document.
func describeCondition(header string) *huma.Param {
	most := maxCondition
	return &huma.Param{
		Name: header, In: "header", Description: conditions[header],
		Schema: &huma.Schema{Type: huma.TypeString, MaxLength: &most, Pattern: conditionPattern.String()},
	}
}

// takeCondition reads the tags of such a header, if it is there.
func (s *server) takeCondition(header string) func(ctx huma.Context, next func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		c := humaecho.Unwrap(ctx)
		lines := c.Request().Header.Values(header)
		if len(lines) == 0 {
			next(ctx)
			return
		}
		list := strings.Join(lines, ",")
		if len(list) > maxCondition || !conditionPattern.MatchString(list) {
			s.answerError(fault.Field(header, "must be * or entity tags in quotes, as the header ETag gives them"), c)
			return
		}
		tags := strings.Split(list, ",")
		for i := range tags {
			tags[i] = strings.TrimSpace(tags[i])
		}
		next(huma.WithValue(ctx, conditionTags{}, tags))
	}
}

// tagsOf are the tags of a request's condition; none where it has none.
func tagsOf(ctx context.Context) []string {
	tags, _ := ctx.Value(conditionTags{}).([]string)
	return tags
}

// known tells whether If-None-Match names a tag: the caller has what it names.
// A weak tag is as good as a strong one for that.
func known(tags []string, tag string) bool {
	return slices.ContainsFunc(tags, func(one string) bool { return one == anyTag || strings.TrimPrefix(one, "W/") == tag })
}

// unchanged gives what If-Match demands of a poll before it is edited, within
// the edit's transaction; nil where nothing was said.
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

// errStale is the answer to an edit of what is no more as the caller saw it:
// the seed's CONFLICT, with the status that If-Match has.
func errStale() *failure {
	return &failure{status: http.StatusPreconditionFailed, Problem: problem{
		Code: codeConflict, Message: "The poll changed since you read it. Read it again, and change what it is now.",
		Detail: &detail{Reason: "stale"},
	}}
}

// taggedPoll is a poll that is answered with its entity tag.
type taggedPoll struct {
	Status int
	ETag   string `header:"ETag" doc:"Names the poll as it is answered here; for If-None-Match and If-Match."`
	Body   *envelope[pollAnswer]
}

// pollRoute adds a route whose answer is the poll at its path, with its tag.
func pollRoute[In any](s *server, op operation, handle func(ctx context.Context, by caller, in *In) (pollAnswer, error)) {
	huma.Register(s.huma, s.describe(op), func(ctx context.Context, in *In) (*taggedPoll, error) {
		ctx, cancel := context.WithTimeout(ctx, answerPatience)
		defer cancel()
		data, err := handle(ctx, callerOf(ctx), in)
		if err != nil {
			return nil, asFailure(err)
		}
		answer := &taggedPoll{Status: http.StatusOK, ETag: tagOf(data), Body: enclose(data)}
		if op.condition == headerIfNoneMatch && known(tagsOf(ctx), answer.ETag) {
			answer.Status = http.StatusNotModified
		}
		return answer, nil
	})
	if op.condition == headerIfNoneMatch { // not before: huma would add no answer for errors
		s.huma.OpenAPI().Paths[op.path].Get.Responses["304"] = &huma.Response{Description: "The poll is as If-None-Match has it."}
	}
}
