package discord

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
)

// route is one call of the API. name is what faults match and counts show.
type route struct {
	verb, path, name string
	handle           func(*Server, *http.Request) (any, error)
	// keyless: the path proves who calls, so that it needs no bot token and counts
	// for no limit.
	keyless bool
}

// created is an answer with status 201.
type created struct{ body any }

var table = slices.Concat([]route{
	{verb: http.MethodPost, path: "channels/{channel}/messages", name: "messages.create", handle: (*Server).createMessage},
	{verb: http.MethodGet, path: "channels/{channel}/messages", name: "messages.list", handle: (*Server).listMessages},
	{verb: http.MethodGet, path: "channels/{channel}/messages/{message}", name: "messages.get", handle: (*Server).getMessage},
	{verb: http.MethodPatch, path: "channels/{channel}/messages/{message}", name: "messages.edit", handle: (*Server).editMessage},
	{verb: http.MethodDelete, path: "channels/{channel}/messages/{message}", name: "messages.delete", handle: (*Server).deleteMessage},
	{verb: http.MethodGet, path: "channels/{channel}", name: "channels.get", handle: (*Server).getChannel},
	{verb: http.MethodGet, path: "guilds/{guild}", name: "guilds.get", handle: (*Server).getGuild},
	{verb: http.MethodGet, path: "users/@me", name: "users.get", handle: (*Server).getMe},
	{verb: http.MethodGet, path: "applications/@me", name: "applications.get", handle: (*Server).getApplication},
	{verb: http.MethodPatch, path: "applications/@me", name: "applications.patch", handle: (*Server).patchApplication},
	{verb: http.MethodPost, path: "webhooks/{application}/{token}", name: "webhooks.create",
		handle: (*Server).createFollowup, keyless: true},
	{verb: http.MethodPatch, path: "webhooks/{application}/{token}/messages/@original", name: "webhooks.edit",
		handle: (*Server).editOriginal, keyless: true},
}, commandRoutes("applications/{application}/commands"), commandRoutes("applications/{application}/guilds/{guild}/commands"))

// methods are the names of all calls, and of what the simulator itself sends.
func methods() []string {
	names := []string{sendMethod}
	for _, r := range table {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (s *Server) routes() {
	known := map[string]bool{}
	for _, r := range table {
		for _, version := range []string{"/api/v9/", "/api/v10/"} {
			path := version + r.path
			s.mux.HandleFunc(r.verb+" "+path, s.control.Wrap(r.name, s.refuse(r.name), s.serve(r)))
			if !known[path] {
				known[path] = true
				s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
					writeProblem(w, bare(http.StatusMethodNotAllowed))
				})
			}
		}
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, bare(http.StatusNotFound))
	})
	s.control.Register(s.mux)
	s.mux.HandleFunc("GET /_sim/channels/{channel}/messages", s.simMessages)
	s.mux.HandleFunc("POST /_sim/channels/{channel}/messages", s.simSay)
	s.mux.HandleFunc("PUT /_sim/channels/{channel}", s.simChannel)
	s.mux.HandleFunc("PUT /_sim/application", s.simApplication)
	s.mux.HandleFunc("PUT /_sim/members/{user}", s.simMember)
	s.mux.HandleFunc("POST /_sim/interactions", s.simInteraction)
	s.mux.HandleFunc("GET /_sim/ephemerals/{user}", s.simEphemerals)
}

// serve is what every call goes through once its faults are over: token, rate
// limit, the call itself.
func (s *Server) serve(route route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answer, err := s.call(w, r, route)
		var p *problem
		switch {
		case errors.As(err, &p):
			s.log.Debug("discord simulator: refused", "call", route.name, "status", p.status, "code", p.Code)
			writeProblem(w, p)
		case err != nil:
			s.log.Error("discord simulator: call failed", "call", route.name, "error", err)
			writeProblem(w, bare(http.StatusInternalServerError))
		case answer == nil:
			s.log.Debug("discord simulator: done", "call", route.name)
			w.WriteHeader(http.StatusNoContent)
		default:
			s.log.Debug("discord simulator: done", "call", route.name)
			status := http.StatusOK
			if made, ok := answer.(created); ok {
				status, answer = http.StatusCreated, made.body
			}
			writeJSON(w, status, answer)
		}
	}
}

func (s *Server) call(w http.ResponseWriter, r *http.Request, route route) (any, error) {
	if !route.keyless {
		if !s.authorised(r) {
			return nil, bare(http.StatusUnauthorized)
		}
		s.mu.Lock()
		over := s.limits.take(w.Header(), route.name, r.PathValue("channel"), s.clock.Now())
		s.mu.Unlock()
		if over != nil {
			return nil, over
		}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	return route.handle(s, r)
}

// writeJSON answers without escaping <, > and &, as Discord does.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// The status is out; a caller that has gone away loses only the body.
	_ = enc.Encode(v)
}
