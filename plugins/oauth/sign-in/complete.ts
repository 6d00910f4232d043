import type { Egress } from "#kernel/egress/egress.ts";
import type { Reply, RequestInfo } from "#kernel/http/route.ts";
import type { Logger } from "#kernel/log.ts";
import type { OutsideSignIn } from "#plugins/accounts/service.ts";
import type { OAuthConfig } from "../config.ts";
import type { Claims } from "../claims.ts";
import { fetchPicture } from "../picture.ts";
import type { Provider } from "../providers.ts";
import { type Person, toPerson } from "../rules.ts";
import type { SessionStore } from "../sessions/session-store.ts";
import type { Returned } from "./flow.ts";

export interface CompletionParts {
  readonly config: OAuthConfig;
  readonly signIn: OutsideSignIn;
  readonly sessions: SessionStore;
  readonly egress: Pick<Egress, "fetch">;
  readonly log: Logger;
}

export interface CompletedSignIn {
  /** The session, or the step that is still asked for. */
  readonly reply: Reply;
  /** Value of the cookie `oauth_session_id`. */
  readonly sessionId: string;
}

/** Signs in whom a provider returned: rules, account, the provider's tokens, session. */
export async function completeSignIn(
  { claims, tokens }: Returned,
  { provider, request }: { readonly provider: Provider; readonly request: RequestInfo },
  { config, signIn, sessions, egress, log }: CompletionParts,
): Promise<CompletedSignIn> {
  const person = toPerson(claims, { provider, config });
  const picture = await readPicture(person);
  let sessionId = "";
  const reply = await signIn.signIn(
    { ...person.identity, picture },
    {
      method: "oauth",
      request,
      async onAccount(userId) {
        const sid = typeof claims["sid"] === "string" ? claims["sid"] : null;
        const { subject } = person;
        sessionId = await sessions.add({ userId, provider: provider.id, subject, sid }, tokens);
      },
    },
  );
  return { reply, sessionId };

  /** Fetched where it is used alone: for a new account, and where each sign-in replaces it. */
  async function readPicture({ pictureUrl, identity }: Person): Promise<string | undefined> {
    const isWanted = config.updatePicture || (await signIn.findLinked(identity.link)) === undefined;
    if (pictureUrl === undefined || !isWanted) {
      return undefined;
    }
    const isOwn = pictureUrl === provider.pictureUrl;
    const accessToken = isOwn ? tokens.accessToken : undefined;
    return await fetchPicture({ url: pictureUrl, accessToken, egress, log });
  }
}

/** What a sign-in of these claims would do. */
export async function preview(
  claims: Claims,
  provider: Provider,
  { config, signIn }: Pick<CompletionParts, "config" | "signIn">,
  onDecision: Parameters<typeof toPerson>[2],
) {
  const person = toPerson(claims, { provider, config }, onDecision);
  return { person, outcome: await signIn.preview(person.identity) };
}
