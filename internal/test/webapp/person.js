// Who is signed in, for scripts that bring tokens of their own, forged ones too.
// The client's parts ask the part that signs people in for a token; here each app
// has one that it was given.
import { Component } from "@firebase/component";
import { _registerComponent, getApps, initializeApp } from "firebase/app";

const people = new Map();

_registerComponent(
  new Component(
    "auth-internal",
    (container) => {
      const { uid = null, token = null } = people.get(container.getProvider("app").getImmediate().name) ?? {};
      return {
        getUid: () => uid,
        getToken: async () => (token ? { accessToken: token } : null),
        // Not at once: the client checks for it only then.
        addAuthTokenListener: (listener) => setTimeout(() => listener(token)),
        removeAuthTokenListener: () => {},
      };
    },
    "PRIVATE",
  ),
);

// appOf is an app of a project in which a person is signed in, by a uid and a
// token; without a token nobody is.
export function appOf(person, projectId = "demo-project") {
  const name = `app ${getApps().length}`;
  people.set(name, person);
  return initializeApp({ projectId, apiKey: "none", appId: "none" }, name);
}
