// The official client's httpsCallable in a program of its own: it reads a list
// of calls as JSON, makes one after the other, and prints what became of each.
//
// A call is {at, form, token, name, data}: form "emulator" calls
// /{project}/{region}/{name}, "domain" calls /{name}.
import { connectFunctionsEmulator, getFunctions, httpsCallable } from "firebase/functions";
import { readFileSync } from "node:fs";
import { appOf } from "./person.js";

function functionsOf(call) {
  const app = appOf({ token: call.token || null });
  if (call.form === "domain") {
    return getFunctions(app, call.at);
  }
  const address = new URL(call.at);
  const functions = getFunctions(app, "us-central1");
  connectFunctionsEmulator(functions, address.hostname, Number(address.port));
  return functions;
}

async function make(call) {
  try {
    const answer = await httpsCallable(functionsOf(call), call.name)(call.data);
    return { result: answer.data };
  } catch (failure) {
    return { code: failure.code, message: failure.message };
  }
}

const made = [];
for (const call of JSON.parse(readFileSync(0, "utf8"))) {
  made.push(await make(call));
}
process.stdout.write(JSON.stringify(made));
process.exit(0);
