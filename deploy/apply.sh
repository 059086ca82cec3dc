#!/usr/bin/env bash
# Sets up a Google Cloud project as the files in this folder say. It is idempotent: it
# updates what exists and deletes nothing. The first failure ends it.
#
#   deploy/apply.sh [--dry-run] [--settings FILE]
#
# Placeholders in the settings are refused. --dry-run prints the commands and runs none;
# it prints updates as creations.
# docs/deployment.md lists what must exist before.
set -euo pipefail
cd "$(dirname "$0")/.."

dry='' settings=deploy/settings.env
while (($#)); do
  case $1 in
    --dry-run) dry=yes ;;
    --settings) settings=${2:?--settings wants a file}; shift ;;
    *) echo "usage: deploy/apply.sh [--dry-run] [--settings FILE]" >&2; exit 2 ;;
  esac
  shift
done

# ---- settings ---------------------------------------------------------------

names=(PROJECT REGION FIRESTORE_LOCATION DATABASE IMAGE VERSION PUBLIC_URL LOAD_BALANCERS APP_URL AUDIENCE CALLABLES_UPSTREAM
  ALLOWED_ORIGINS GOOGLE_CLIENT_ID DISCORD METRICS ATTENDEES ATTENDEES_SHEET ATTENDEES_DOMAINS REVOCATION ADMIN_USERS SYNC RULES INDEXES)
optional=' LOAD_BALANCERS CALLABLES_UPSTREAM METRICS ATTENDEES ATTENDEES_SHEET ATTENDEES_DOMAINS ADMIN_USERS '
declare -A set_to=()
[[ -r $settings ]] || { echo "$settings cannot be read: copy deploy/settings.env.example to it and fill it in" >&2; exit 2; }
while IFS='=' read -r name value || [[ $name ]]; do
  [[ $name =~ ^[[:space:]]*(#|$) ]] && continue
  [[ " ${names[*]} " == *" $name "* ]] || { echo "$settings: $name is no setting" >&2; exit 2; }
  # A value must not end the YAML string or the sed expression that it is put into.
  [[ $value =~ [\"\\\&\|\$\`] ]] && { echo "$settings: $name has a character that none of these has" >&2; exit 2; }
  # Paths are appended to an address, and a token's audience has no trailing slash.
  if [[ $name == PUBLIC_URL || $name == AUDIENCE ]]; then
    while [[ $value == */ ]]; do value=${value%/}; done
  fi
  set_to[$name]=$value
done <"$settings"
missing=()
for name in "${names[@]}"; do
  [[ ${set_to[$name]:-} || $optional == *" $name "* ]] || missing+=("$name")
done
((${#missing[@]} == 0)) || { echo "$settings: these are missing: ${missing[*]}" >&2; exit 2; }

# placeholder says whether a value was taken over from an example or a manual.
placeholder() {
  [[ $1 == *[\<\>…]* || $1 == *...* || $1 == 0.apps.* || ${1,,} =~ (^|[^[:alnum:]])(example|your|todo|changeme|xxx+)([^[:alnum:]]|$) ||
    $1 =~ (^|[^[:alnum:]])(PROJECT|REGION|REPOSITORY|DOMAIN|IMAGE|NAME)([^[:alnum:]]|$) ]]
}
unfilled=()
for name in "${names[@]}"; do
  if placeholder "${set_to[$name]:-}"; then unfilled+=("$name=${set_to[$name]}"); fi
done
if ((${#unfilled[@]})); then
  printf '%s: these are placeholders; put in your own values:\n' "$settings" >&2
  printf '  %s\n' "${unfilled[@]}" >&2
  exit 2
fi
# Each of these that is yes needs a secret. For the others, the lines of service.yaml
# that end with the name are dropped.
declare -A secret_of=([DISCORD]=discord-bot-token [METRICS]=metrics-token [ATTENDEES]=attendees-key)
secrets=(google-client-secret enc-keys) without=()
for name in DISCORD METRICS ATTENDEES; do
  case ${set_to[$name]:-no} in
    yes) secrets+=("${secret_of[$name]}") ;;
    no) without+=("$name") ;;
    *) echo "$settings: $name has to be yes or no" >&2; exit 2 ;;
  esac
done
[[ ${set_to[ATTENDEES]:-no} == no || ${set_to[ATTENDEES_SHEET]:-} && ${set_to[ATTENDEES_DOMAINS]:-} ]] ||
  { echo "$settings: ATTENDEES is yes, and ATTENDEES_SHEET or ATTENDEES_DOMAINS is missing" >&2; exit 2; }
project=${set_to[PROJECT]} region=${set_to[REGION]} database=${set_to[DATABASE]}
image=${set_to[IMAGE]}:${set_to[VERSION]}
for file in "${set_to[RULES]}" "${set_to[INDEXES]}"; do
  [[ $file == none || -r $file ]] || { echo "$settings: $file cannot be read" >&2; exit 2; }
done

# ---- how a command is run -----------------------------------------------------

run() {
  printf '%q ' "$@"; echo
  [[ $dry ]] || "$@"
}

# quietly is run without the command's long output.
quietly() {
  printf '%q ' "$@"; echo
  [[ $dry ]] || "$@" >/dev/null
}

# there checks that a resource exists; in a dry run none does.
there() { [[ ! $dry ]] && gcloud "$@" --project="$project" >/dev/null 2>&1; }

# rows prints the lines of a table without comments.
rows() { sed -e 's/[[:space:]]*#.*$//' -e '/^[[:space:]]*$/d' "deploy/$1"; }

account() { echo "questscheduler-$1@$project.iam.gserviceaccount.com"; }

member() { if [[ $1 == everybody ]]; then echo allUsers; else echo "serviceAccount:$(account "$1")"; fi; }

# ---- what is done, in this order ----------------------------------------------

services() {
  # Eventarc delivers events by Pub/Sub and gets those of Firestore from its publishing
  # service. Cloud Run and Cloud Build write to Cloud Logging.
  run gcloud services enable run.googleapis.com cloudtasks.googleapis.com cloudscheduler.googleapis.com eventarc.googleapis.com \
    eventarcpublishing.googleapis.com pubsub.googleapis.com logging.googleapis.com \
    firestore.googleapis.com secretmanager.googleapis.com cloudbuild.googleapis.com artifactregistry.googleapis.com \
    calendar-json.googleapis.com sheets.googleapis.com iam.googleapis.com --project="$project"
}

accounts() {
  for name in server machines; do
    there iam service-accounts describe "$(account $name)" ||
      run gcloud iam service-accounts create "questscheduler-$name" --display-name="questscheduler: $name" --project="$project"
  done
}

# check_secrets only checks: an operator sets the values, so none passes through this
# script.
check_secrets() {
  [[ $dry ]] && return
  for name in "${secrets[@]}"; do
    there secrets versions describe latest --secret="questscheduler-$name" || {
      echo "the secret questscheduler-$name has no value; give it one: gcloud secrets create questscheduler-$name --data-file=FILE --project=$project" >&2
      exit 1
    }
  done
}

documents() {
  if [[ ${set_to[RULES]} != none || ${set_to[INDEXES]} != none ]]; then firestore_files; fi
  # Firestore's TTL removes idempotency keys. All other documents that expire are removed
  # by the daily cleanup, which keeps the snapshots that are still needed.
  quietly gcloud firestore fields ttls update expiresAt --collection-group=idempotencyKeys --enable-ttl --async \
    --database="$database" --project="$project"
}

# firestore_files deploys rules and indexes with firebase, which reads them from one
# folder. Without --force it keeps indexes that the file does not have.
firestore_files() {
  local folder only=() config
  folder=$(mktemp -d)
  config="\"database\": \"$database\""
  if [[ ${set_to[RULES]} != none ]]; then
    cp "${set_to[RULES]}" "$folder/firestore.rules"; config+=', "rules": "firestore.rules"'; only+=(firestore:rules)
  fi
  if [[ ${set_to[INDEXES]} != none ]]; then
    cp "${set_to[INDEXES]}" "$folder/firestore.indexes.json"; config+=', "indexes": "firestore.indexes.json"'; only+=(firestore:indexes)
  fi
  echo "{\"firestore\": {$config}}" >"$folder/firebase.json"
  local failed=0
  run firebase deploy --only "$(IFS=,; echo "${only[*]}")" --config "$folder/firebase.json" --project "$project" --non-interactive || failed=$?
  rm -r "$folder"
  return "$failed"
}

queues() {
  local kind at_once a_second first longest verb
  while read -r kind at_once a_second first longest; do
    verb=create
    there tasks queues describe "questscheduler-$kind" --location="$region" && verb=update
    run gcloud tasks queues "$verb" "questscheduler-$kind" --max-concurrent-dispatches="$at_once" --max-dispatches-per-second="$a_second" \
      --max-attempts=-1 --min-backoff="$first" --max-backoff="$longest" --location="$region" --project="$project" </dev/null
  done < <(rows queues.txt)
}

# grants binds the roles of iam.txt for the given places. Binding is idempotent.
grants() {
  local where who role kind name
  while read -r where who role; do
    [[ " $* " == *" $where "* ]] || continue
    local to=(--member="$(member "$who")" --role="$role" --project="$project")
    case $where in
      project | people) quietly gcloud projects add-iam-policy-binding "$project" --condition=None "${to[@]::2}" ;;
      queue)
        while read -r kind _; do
          quietly gcloud tasks queues add-iam-policy-binding "questscheduler-$kind" --location="$region" "${to[@]}" </dev/null
        done < <(rows queues.txt)
        ;;
      secret)
        for name in "${secrets[@]}"; do quietly gcloud secrets add-iam-policy-binding "questscheduler-$name" "${to[@]}"; done
        ;;
      machines) quietly gcloud iam service-accounts add-iam-policy-binding "$(account machines)" "${to[@]}" ;;
      service) quietly gcloud run services add-iam-policy-binding questscheduler --region="$region" "${to[@]}" ;;
      *) echo "deploy/iam.txt: $where is no place" >&2; exit 2 ;;
    esac
  done < <(rows iam.txt)
}

build() {
  local path repository
  IFS=/ read -r _ _ repository path <<<"${set_to[IMAGE]}"
  there artifacts repositories describe "$repository" --location="$region" ||
    run gcloud artifacts repositories create "$repository" --repository-format=docker --location="$region" --project="$project"
  there artifacts docker images describe "$image" ||
    run gcloud builds submit . --config=deploy/cloudbuild.yaml --substitutions="_IMAGE=$image,_VERSION=${set_to[VERSION]}" --project="$project"
}

service() {
  local filled name program=()
  for name in "${names[@]}"; do program+=(-e "s|\${$name}|${set_to[$name]:-}|g"); done
  for name in ${without[@]+"${without[@]}"}; do program+=(-e "/# $name\$/d"); done
  filled=$(mktemp)
  sed "${program[@]}" deploy/service.yaml >"$filled"
  local failed=0
  run gcloud run services replace "$filled" --region="$region" --project="$project" || failed=$?
  rm "$filled"
  return "$failed"
}

jobs() {
  local name schedule verb
  while read -r name schedule; do
    verb=create
    [[ $name == refresh-mappings && ${set_to[ATTENDEES]:-no} == no ]] && continue # the program has no such job
    there scheduler jobs describe "questscheduler-$name" --location="$region" && verb=update
    # A run has a minute and three retries.
    run gcloud scheduler jobs "$verb" http "questscheduler-$name" --schedule="$schedule" --time-zone=Etc/UTC --http-method=POST \
      --uri="${set_to[PUBLIC_URL]}/jobs/$name" --oidc-service-account-email="$(account machines)" --oidc-token-audience="${set_to[AUDIENCE]}" \
      --attempt-deadline=60s --max-retry-attempts=3 --location="$region" --project="$project" </dev/null
  done < <(rows jobs.txt)
}

# document_changes creates or updates the trigger. An update changes everything except
# the location, which is part of its name.
document_changes() {
  local verb=create
  there eventarc triggers describe questscheduler-documents --location="${set_to[FIRESTORE_LOCATION]}" && verb=update
  run gcloud eventarc triggers "$verb" questscheduler-documents --location="${set_to[FIRESTORE_LOCATION]}" \
    --event-filters="type=google.cloud.firestore.document.v1.written" --event-filters="database=$database" \
    --event-filters-path-pattern="document=schedulers/{id}" --event-data-content-type="application/protobuf" \
    --destination-run-service=questscheduler --destination-run-region="$region" --destination-run-path=/webhooks/documents \
    --service-account="$(account machines)" --project="$project"
}

services
accounts
check_secrets
documents
queues
grants project queue secret machines
if [[ ${set_to[REVOCATION]} == on ]]; then grants people; fi
build
service
grants service
jobs
document_changes
echo "done. Check each part: questscheduler doctor (docs/deployment.md)"
