package main

import (
	"maps"
	"slices"

	"questscheduler/internal/queue/cloudtasks"
	"questscheduler/internal/signin"
	"questscheduler/internal/timers"
	webhooks "questscheduler/web-hooks"
)

// wireMachines adds the routes that Google's machines call by their OIDC tokens.
func (s *server) wireMachines() {
	webhooks.RegisterJobs(s.edge, s.operators, s.timers)
	if s.tasks != nil {
		webhooks.RegisterTasks(s.edge, s.machines([]string{s.config.TasksAudience}, s.config.TasksServiceAccount), s.tasks)
	}
}

// machines verify the tokens of some accounts, for some audiences.
func (s *server) machines(audiences []string, accounts ...string) *signin.Machines {
	keys, issuers := s.machineKeys()
	return signin.NewMachines(signin.MachineOptions{Keys: keys, Issuers: issuers, Audiences: audiences, Accounts: accounts, Now: s.now})
}

// machineKeys are those of whoever vouches for machines, fetched once for all who
// ask for them.
func (s *server) machineKeys() (signin.KeySource, []string) {
	if s.config.MachineIssuer != "" {
		if s.vouching == nil {
			s.vouching = signin.NewIssuerKeys(s.config.MachineIssuer, s.keysClient(), s.now)
		}
		return s.vouching, []string{s.config.MachineIssuer}
	}
	if s.vouching == nil {
		s.vouching = signin.NewHTTPKeys(signin.GoogleKeysURL, s.keysClient(), s.now)
	}
	return s.vouching, signin.GoogleIssuers
}

// machinePaths are the routes of machines that are not in webhooks.JobPaths.
var machinePaths = []string{"/webhooks/documents", "/admin/watches/force-register", "/admin/force-register-channels"}

// audiences are whom the tokens of machines may be for: what the settings say,
// and since Cloud Scheduler and Eventarc by themselves name the address that
// they call, those of the routes.
func (s *server) audiences() []string {
	audiences := []string{s.config.TasksAudience}
	if base := s.config.PublicURL; base != "" {
		audiences = append(audiences, base, base+"/")
		for _, path := range append(slices.Concat(slices.Collect(maps.Values(webhooks.JobPaths))...), machinePaths...) {
			audiences = append(audiences, base+path)
		}
	}
	return slices.DeleteFunc(audiences, func(audience string) bool { return audience == "" })
}

var (
	_ webhooks.Jobs  = (*timers.Timers)(nil)
	_ webhooks.Tasks = (*cloudtasks.Queue)(nil)
)
