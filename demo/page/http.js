// Failure is an answer that is no success, with its sentence for people.
export class Failure extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// call sends a request with an optional JSON body and returns what was answered: JSON,
// or null for none. It throws a Failure, or the browser's error if nobody answered.
export async function call(method, url, { body, authorization, headers = {} } = {}) {
  const asked = { ...headers };
  if (authorization) asked.Authorization = authorization;
  if (body !== undefined) asked["Content-Type"] = "application/json";
  const response = await fetch(url, { method, headers: asked, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store" });
  const text = await response.text();
  const answer = text ? parsed(text) : null;
  if (!response.ok) throw failureOf(response, answer);
  return answer;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// failureOf reads the sentence of an error of the API, of Google, of Discord, or of a
// simulator's controls.
function failureOf(response, answer) {
  const error = answer?.error;
  const message = typeof error === "string" ? error : error?.message ?? answer?.message;
  return new Failure(response.status, error?.code ?? answer?.code, message || `${response.status} ${response.statusText}`);
}

// events reads server-sent events (the HTML standard's text/event-stream) and gives
// each to take(name, data), one after another. It returns when the stream ends; aborting
// the signal throws, and so does an error of take.
export async function events(url, { authorization, signal }, take) {
  const response = await fetch(url, { headers: { Authorization: authorization, Accept: "text/event-stream" }, signal, cache: "no-store" });
  if (!response.ok) throw new Failure(response.status, "", `${response.status} ${response.statusText}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    pending += value;
    const blocks = pending.split("\n\n");
    pending = blocks.pop();
    for (const block of blocks) await takeEvent(block, take);
  }
}

async function takeEvent(block, take) {
  let name = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (data) await take(name, JSON.parse(data));
}
