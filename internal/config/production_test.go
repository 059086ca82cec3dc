package config_test

import (
	"slices"
	"testing"
)

// firebase are settings for sign-in with Firebase.
func firebase(project string, more ...string) []string {
	return append([]string{"QS_AUTH=firebase", "QS_FIREBASE_PROJECT=" + project}, more...)
}

// Each row is an environment and the setting that is refused in it.
func TestLoad_DevelopmentSetting_IsRefusedInProduction(t *testing.T) {
	t.Parallel()
	const authEmulator, cloudRun = "FIREBASE_AUTH_EMULATOR_HOST=127.0.0.1:9099", "K_SERVICE=quests"
	inFirestore := []string{"QS_STORE=firestore", "QS_FIRESTORE_PROJECT=p"}
	onEmulator := append(slices.Clone(inFirestore), "QS_FIRESTORE_ENDPOINT=127.0.0.1:8085")
	byTasks := []string{"QS_QUEUE=cloudtasks", "QS_CLOUDTASKS_QUEUE=projects/p/locations/l/queues/q", "QS_TASKS_SERVICE_ACCOUNT=a@b.example"}
	onCloudRun := slices.Concat(inFirestore, byTasks, []string{cloudRun})
	for name, row := range map[string]struct {
		environ []string
		wrong   string // "" if none is
	}{
		"the embedded default":                          {nil, ""},
		"an embedded store whose people are Firebase's": {firebase("quest-party"), ""},
		"the embedded sign-in on Cloud Run":             {onCloudRun, "QS_AUTH"},
		"files on Cloud Run":                            {firebase("quest-party", append(slices.Clone(byTasks), cloudRun)...), "QS_STORE"},
		"tasks in a file on Cloud Run":                  {firebase("quest-party", append(slices.Clone(inFirestore), cloudRun)...), "QS_QUEUE"},
		"Cloud Run":                                     {firebase("quest-party", onCloudRun...), ""},
		"the embedded sign-in before Firestore":         {inFirestore, "QS_AUTH"},
		"said in so many words":                         {append(slices.Clone(inFirestore), "QS_AUTH=local"), "QS_AUTH"},
		"the embedded sign-in before an emulator":       {onEmulator, ""},
		"the embedded sign-in before Cloud Tasks":       {byTasks, "QS_AUTH"},
		"Firebase before Firestore":                     {firebase("quest-party", inFirestore...), ""},
		"unsigned tokens on Cloud Run": {
			firebase("demo-party", append(slices.Clone(onCloudRun), authEmulator)...), "FIREBASE_AUTH_EMULATOR_HOST",
		},
		"unsigned tokens before Firestore": {
			firebase("demo-party", append(slices.Clone(inFirestore), authEmulator)...), "FIREBASE_AUTH_EMULATOR_HOST",
		},
		"unsigned tokens before Cloud Tasks": {
			firebase("demo-party", append(slices.Clone(byTasks), authEmulator)...), "FIREBASE_AUTH_EMULATOR_HOST",
		},
		"unsigned tokens of a project that may exist": {firebase("quest-party", authEmulator), "FIREBASE_AUTH_EMULATOR_HOST"},
		"unsigned tokens on emulators":                {firebase("demo-party", append(slices.Clone(onEmulator), authEmulator)...), ""},
		"a project that may exist, all on emulators":  {firebase("quest-party", append(slices.Clone(onEmulator), authEmulator)...), ""},
		"all on emulators, and on Cloud Run": {
			firebase("quest-party", append(slices.Concat(onEmulator, byTasks), authEmulator, cloudRun)...),
			"FIREBASE_AUTH_EMULATOR_HOST",
		},
		"the variable, set to nothing": {
			firebase("quest-party", append(slices.Clone(inFirestore), "FIREBASE_AUTH_EMULATOR_HOST=")...), "",
		},
		"the variable, and nobody signs in with Firebase": {[]string{authEmulator}, ""},
		"the emulator of Firestore by its own variable": {
			firebase("quest-party", append(slices.Clone(inFirestore), "FIRESTORE_EMULATOR_HOST=127.0.0.1:8085")...),
			"FIRESTORE_EMULATOR_HOST",
		},
		"that variable beside our own setting": {
			firebase("demo-party", append(slices.Clone(onEmulator), "FIRESTORE_EMULATOR_HOST=127.0.0.1:8085")...), "",
		},
		"revocation, and an emulator": {
			firebase("demo-party", authEmulator, "QS_FIREBASE_REVOCATION=on"), "QS_FIREBASE_REVOCATION",
		},
		"another issuer before Firestore": {
			firebase("quest-party", append(slices.Clone(inFirestore), "QS_MACHINE_ISSUER=http://127.0.0.1:1")...),
			"QS_MACHINE_ISSUER",
		},
		"another issuer on emulators": {
			firebase("demo-party", append(slices.Clone(onEmulator), "QS_MACHINE_ISSUER=http://127.0.0.1:1")...), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if row.wrong == "" {
				load(t, enough(row.environ...))
				return
			}
			found := problems(t, enough(row.environ...))
			if len(found) != 1 || found[0].Name != row.wrong {
				t.Errorf("got %v, want one problem of %s", found, row.wrong)
			}
		})
	}
}
