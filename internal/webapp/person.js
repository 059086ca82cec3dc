// Who is signed in. The client's parts ask the part that signs people in for a
// token; here each app has one that it was given.
import { Component } from "@firebase/component";
import { _registerComponent, getApps, initializeApp } from "firebase/app";

export const project = "demo-project";

const tokens = new Map();

_registerComponent(
  new Component(
    "auth-internal",
    (container) => {
      const token = tokens.get(container.getProvider("app").getImmediate().name);
      return {
        getUid: () => null,
        getToken: async () => (token ? { accessToken: token } : null),
        addAuthTokenListener: (listener) => listener(token || null),
        removeAuthTokenListener: () => {},
      };
    },
    "PRIVATE",
  ),
);

// appOf is an app in which the person of a token is signed in; nobody without
// one.
export function appOf(token, name = `app ${getApps().length}`) {
  tokens.set(name, token);
  return initializeApp({ projectId: project, apiKey: "none", appId: "none" }, name);
}
