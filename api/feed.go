package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	feeds "questscheduler/feed"
)

// feedParam is the last part of a feed's path: a secret and feeds.Extension. Echo's names of
// parameters end at a slash, so the extension belongs to the name.
const feedParam = "secret" + feeds.Extension

// PathFeed is the route of calendar feeds. Logs and metrics name it, never the path of a
// request, which holds the secret.
const PathFeed = feeds.Path + ":" + feedParam

func (s *server) feedRoutes() {
	route(s, "POST /v1/feed", "create-feed", persons,
		"Make the caller's calendar feed; the previous address stops working", s.createFeed, created)
	route(s, "DELETE /v1/feed", "delete-feed", persons, "End the caller's calendar feed", s.deleteFeed)
	s.echo.Match([]string{http.MethodGet, http.MethodHead}, PathFeed, s.serveFeed, s.limitAddress)
}

type feedAnswer struct {
	URL string `json:"url" format:"uri" doc:"For a calendar program. Anybody who has it reads the caller's sessions; it is given once."`
}

func (s *server) createFeed(ctx context.Context, by caller, _ *struct{}) (feedAnswer, error) {
	address, err := s.Feeds.Renew(ctx, by.person.ID, by.signedIn)
	return feedAnswer{URL: address}, err
}

type feedDeletedAnswer struct {
	Deleted bool `json:"deleted" doc:"Also if there was none."`
}

func (s *server) deleteFeed(ctx context.Context, by caller, _ *struct{}) (feedDeletedAnswer, error) {
	err := s.Feeds.Revoke(ctx, by.person.ID)
	return feedDeletedAnswer{Deleted: err == nil}, err
}

// serveFeed answers calendar programs, which send no token: the secret in the path is all.
func (s *server) serveFeed(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), answerTimeout)
	defer cancel()
	secret, hasExtension := strings.CutSuffix(c.Param(feedParam), feeds.Extension)
	if !hasExtension {
		secret = "" // NotFound, like any secret that was never made
	}
	listed := listedTags(c.Request().Header)
	calendar, err := s.Feeds.Calendar(ctx, secret, func(tag string) bool { return matchesWeakly(listed, quoted(tag)) })
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set("ETag", quoted(calendar.Tag))
	header.Set(echo.HeaderCacheControl, "private, no-cache") // kept, and asked for anew
	if calendar.Text == nil {
		return c.NoContent(http.StatusNotModified)
	}
	header.Set(echo.HeaderContentLength, strconv.Itoa(len(calendar.Text))) // for HEAD too
	return c.Blob(http.StatusOK, "text/calendar; charset=utf-8", calendar.Text)
}

func quoted(tag string) string { return `"` + tag + `"` }

// listedTags are the tags of If-None-Match. A header that cannot be read is ignored: calendar
// programs show their users no errors.
func listedTags(header http.Header) (tags []string) {
	list := strings.Join(header.Values("If-None-Match"), ",")
	if len(list) > maxCondition || !conditionPattern.MatchString(list) {
		return nil
	}
	for tag := range strings.SplitSeq(list, ",") {
		tags = append(tags, strings.TrimSpace(tag))
	}
	return tags
}
