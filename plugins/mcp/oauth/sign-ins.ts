import { createHash, randomBytes } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import type { FetchLike } from "../client/server-fetch.ts";
import { discover, isSameIssuer, type ResourceMode } from "./discovery.ts";
import { type ClientRegistration, finishSignIn, register, startSignIn, toScope } from "./sign-in.ts";
import type { ClientStore, FlowStore, SessionPlace, SessionStore } from "./stores.ts";

/** A server that people sign in to. */
export interface SignInTarget extends SessionPlace {
  readonly url: string;
  readonly fetchServer: FetchLike;
  readonly authorizationServerUrl: string | undefined;
  readonly scope: string | undefined;
  /** The registration that an administrator stored with the connection. */
  readonly registration: ClientRegistration | undefined;
}

export interface SignInsParts {
  readonly flows: FlowStore;
  readonly clients: ClientStore;
  readonly sessions: SessionStore;
  /** Name of the platform, for registrations. */
  name(): string;
  resourceMode(): ResourceMode;
}

export interface StartOptions {
  readonly redirectUrl: string;
  readonly documentUrl: string | undefined;
  /** Path of the page to return to. */
  readonly returnTo: string;
}

/** Answer of an authorization server, as its redirect carries it. */
export interface CallbackInput {
  readonly state: string;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly issuer: string | undefined;
  /** The secret of the browser's cookie. */
  readonly browser: string;
}

export type SignIns = ReturnType<typeof createSignIns>;

/** People's sign-ins to servers with OAuth 2.1. */
export function createSignIns(parts: SignInsParts) {
  const { flows, clients, sessions } = parts;
  return {
    /** Where the person signs in, and the secret that binds the sign-in to this browser. */
    async start(
      target: SignInTarget,
      options: StartOptions,
    ): Promise<{ address: string; state: string; browser: string }> {
      const stored = await sessions.read(target);
      const known = stored?.tokens.url === target.url ? stored : undefined;
      const wanted = known?.wantedScope;
      const discovered = await discover(
        {
          url: target.url,
          authorizationServerUrl: target.authorizationServerUrl,
          resourceMode: parts.resourceMode(),
          challenge: undefined,
        },
        target.fetchServer,
      );
      const asked = wanted ? { ...discovered, scopes: wanted.split(" ") } : discovered;
      const scope = toScope(asked, {
        configured: target.scope,
        granted: wanted ? known?.tokens.scope : undefined,
      });
      const client = await findClient();
      const [state, browser] = [randomBytes(32).toString("base64url"), randomBytes(32).toString("base64url")];
      const { redirectUrl, returnTo } = options;
      const { address, pending } = await startSignIn({
        url: target.url,
        discovered,
        client,
        redirectUrl,
        state,
        scope,
      });
      await flows.put(state, target, { pending, returnTo, browser: hash(browser) });
      return { address, state, browser };

      async function findClient(): Promise<ClientRegistration> {
        const fits = (one: ClientRegistration | undefined) =>
          one !== undefined && isUsable(one, discovered.issuer, options);
        const found = [target.registration, await clients.read(target.provider)].find(fits);
        if (found !== undefined) {
          return found;
        }
        const input = {
          name: parts.name(),
          scope,
          redirectUrl: options.redirectUrl,
          documentUrl: options.documentUrl,
        };
        const made = await register(discovered, input, target.fetchServer);
        await clients.save(target.provider, made);
        return made;
      }
    },

    /** Ends a sign-in whose state is this person's own and comes from the same browser (S93); resolves to where to return. */
    async finish(target: SignInTarget, input: CallbackInput): Promise<{ returnTo: string; error?: string }> {
      const flow = await flows.take(input.state, target);
      if (flow === undefined || flow.browser !== hash(input.browser) || flow.pending.url !== target.url) {
        throw new AppError(
          "invalid",
          "This sign-in is unknown, was used already or began elsewhere. Start it again.",
        );
      }
      if (input.code === undefined) {
        return { returnTo: flow.returnTo, error: input.error ?? "no code" };
      }
      const answer = { code: input.code, issuer: input.issuer };
      await sessions.save(target, await finishSignIn(flow.pending, answer, target.fetchServer));
      return { returnTo: flow.returnTo };
    },
  };
}

/** A registration counts with the server that it was made with, and for the address that it named. */
function isUsable(
  { issuer, information }: ClientRegistration,
  wanted: string,
  { redirectUrl }: StartOptions,
): boolean {
  const addresses = "redirect_uris" in information ? information.redirect_uris : undefined;
  const isOurs = issuer === undefined || isSameIssuer(issuer, wanted);
  return isOurs && (addresses === undefined || addresses.includes(redirectUrl));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
