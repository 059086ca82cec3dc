// The page refetches itself while it is visible, and replaces the parts that changed.
// Without this script it shows the same, and must be reloaded by hand.
"use strict";

const every = Number(document.documentElement.dataset.refresh) * 1000;
const stale = document.getElementById("stale");

// The notice of a pressed button must not reappear with the next reload.
const here = new URL(location.href);
for (const name of ["done", "count"]) here.searchParams.delete(name);
history.replaceState(null, "", here);

// A refresh must not discard a selection among the held sessions.
function isChosen(part) {
  return [...part.querySelectorAll("input[type=checkbox]")].some((box) => box.checked !== box.defaultChecked);
}

function swap(part, fresh) {
  if (part.innerHTML === fresh.innerHTML || isChosen(part)) return;
  const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
  part.replaceChildren(...fresh.childNodes);
  if (!focused) return;
  const again = document.getElementById(focused) || part.closest("section")?.querySelector("h2");
  again?.focus({ preventScroll: true });
}

function say(text) {
  if (stale.textContent !== text) stale.textContent = text;
  stale.hidden = text === "";
}

async function refresh() {
  if (document.hidden) return;
  try {
    const answer = await fetch(here.pathname + here.search, { cache: "no-store" });
    if (answer.status === 401 || answer.status === 404) return say("You are signed out. Reload the page to sign in again.");
    if (!answer.ok) return say("The server has trouble answering. What stands here may be old.");
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const other = fresh.getElementById(part.id);
      if (other) swap(part, other);
    }
    document.title = fresh.title;
    say("");
  } catch {
    say("The server does not answer. What stands here is old.");
  }
}

async function run() {
  await refresh();
  setTimeout(run, every);
}
setTimeout(run, every);
document.addEventListener("visibilitychange", refresh);
document.getElementById("refresh").addEventListener("click", (event) => {
  event.preventDefault();
  refresh();
});
