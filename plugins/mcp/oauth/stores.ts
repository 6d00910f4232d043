import type { ClientRegistration, PendingSignIn, TokenSet } from "./sign-in.ts";

/** Whose tokens, and for which server (`mcp:<server id>`). */
export interface SessionPlace {
  readonly userId: string;
  readonly provider: string;
}

export interface StoredSession {
  readonly tokens: TokenSet;
  /** Scopes that the server asked for since, separated by spaces. */
  readonly wantedScope: string | undefined;
  /** Differs after every renewal. */
  readonly version: string;
}

export interface SessionStore {
  read(place: SessionPlace): Promise<StoredSession | undefined>;
  /** Stores the tokens of a sign-in or a renewal, and ends a renewal that runs. */
  save(place: SessionPlace, tokens: TokenSet): Promise<void>;
  /** Notes that the person has to sign in for more. */
  wantScope(place: SessionPlace, scope: string): Promise<void>;
  /** True for the one process that may renew the tokens of this version now. */
  beginRenewal(place: SessionPlace, version: string): Promise<boolean>;
  endRenewal(place: SessionPlace): Promise<void>;
  /** Removes the tokens; those of `version` alone, where it is given. Resolves to what was there, as far as it can be read. */
  remove(
    place: SessionPlace,
    version?: string,
  ): Promise<{ readonly tokens: TokenSet | undefined } | undefined>;
}

/** A sign-in on its way, and where the person goes afterwards. */
export interface StoredFlow {
  readonly pending: PendingSignIn;
  readonly returnTo: string;
  /** SHA-256 of the secret in the browser's cookie. */
  readonly browser: string;
}

export interface FlowStore {
  put(state: string, place: SessionPlace, flow: StoredFlow): Promise<void>;
  /** Takes a flow out, so that no state counts twice; undefined for a state that is unknown, late or another person's. */
  take(state: string, place: SessionPlace): Promise<StoredFlow | undefined>;
}

export interface ClientStore {
  read(provider: string): Promise<ClientRegistration | undefined>;
  save(provider: string, registration: ClientRegistration): Promise<void>;
}
