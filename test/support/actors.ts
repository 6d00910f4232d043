import type { App } from "./app.ts";

/** Kinds of callers, from one without a credential to the administrator. */
export type ActorName = "nobody" | "pending" | "user" | "key" | "other" | "admin";

export interface Actor {
  readonly name: ActorName;
  /** The credential now; undefined for `nobody`. */
  token(): string | undefined;
  /**
   * Replaces the account when its last call, which was answered with this status, ended its session, deleted its key, or
   * deleted it. A refused call has ended nothing.
   */
  renewCredential(status: number): Promise<void>;
}

/** Variables under which every actor can exist. */
export const actorEnvironment = { ENABLE_API_KEYS: "true", USER_PERMISSIONS_FEATURES_API_KEYS: "true" };

/** Makes an actor on a running app; each has an account of its own. */
export async function createActor(app: App, name: ActorName): Promise<Actor> {
  let token = await openCredential(app, name);
  return {
    name,
    token: () => token,
    async renewCredential(last) {
      if (token === undefined || last >= 400) {
        return;
      }
      const { status } = await app.call("GET /api/v1/auths", { token });
      if (status !== 200) {
        token = await openCredential(app, name);
      }
    },
  };
}

async function openCredential(app: App, name: ActorName): Promise<string | undefined> {
  if (name === "nobody") {
    return undefined;
  }
  const account = await app.user(name === "admin" || name === "pending" ? name : "user");
  if (name !== "key") {
    return account.token;
  }
  const made = await account.call("POST /api/v1/auths/api_key");
  if (made.status !== 200) {
    throw new Error(`the key could not be made: ${made.text}`);
  }
  return made.body.api_key;
}
