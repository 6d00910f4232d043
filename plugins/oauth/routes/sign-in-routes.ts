import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute, type Reply, reply, type RequestInfo } from "#kernel/http/route.ts";
import { SignInFailure, toFailure } from "../failure.ts";
import { findProvider, type Provider } from "../providers.ts";
import { completeSignIn, type CompletionParts } from "../sign-in/complete.ts";
import type { Flows } from "../sign-in/flow.ts";
import { judge, type Trials } from "../sign-in/trials.ts";

export interface SignInRoutesParts extends CompletionParts {
  readonly flows: Flows;
  readonly trials: Trials;
}

const Name = z.object({ provider: z.string().min(1).max(50) });
export const trialPage = "/admin/sign-in";

/** A path of this server: an address of another one would make this a way to lead people astray. */
const ReturnPath = z
  .string()
  .max(2000)
  .regex(/^\/(?![/\\])[^\\\s]*$/, "must be a path of this server");

/** Browsers send cookies up to so many bytes. */
const longestCookie = 3800;

/** The sign-in of people through providers (appendix A6, OAuth). */
export function signInRoutes(parts: SignInRoutesParts) {
  const { config, flows, trials } = parts;
  const require = (id: string) => requireProvider(parts, id);
  const signIn = (id: string, request: RequestInfo) => endSignIn(require(id), request, parts);
  const callback = {
    method: "GET",
    access: "public",
    params: Name,
    produces: "text/html",
    fails: [404],
    hasOrigin: true,
  } as const;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/oauth/:provider/login",
        summary: "Sign in through a provider: leads to it",
        access: "public",
        params: Name,
        query: z.object({
          redirect: ReturnPath.optional(),
          test: z.literal("1").optional(),
          choose: z
            .literal("1")
            .optional()
            .describe("Lets the person choose another account at the provider"),
        }),
        produces: "text/html",
        fails: [400, 403, 404],
      },
      async ({ params, query, request, caller }) => {
        const provider = require(params.provider);
        if (query.test !== undefined && caller?.role !== "admin") {
          throw new AppError("forbidden", "Only administrators may test a login.");
        }
        const trialOf = query.test === undefined ? undefined : caller?.userId;
        try {
          const redirectUri = toRedirectUri(provider, config.publicUrl, request);
          const { address, cookie } = await flows.start(provider, {
            redirectUri,
            returnTo: query.redirect,
            trialOf,
            choosesAccount: query.choose !== undefined,
            request,
          });
          return reply(undefined, { status: 302, headers: { location: address, "set-cookie": cookie } });
        } catch (error) {
          if (trialOf === undefined) {
            return toFailed(error, { provider, request }, parts);
          }
          const trial = await judge(provider, () => Promise.reject(error as Error), parts);
          const location = `${trialPage}?trial=${await trials.keep(trialOf, trial)}`;
          return reply(undefined, { status: 303, headers: { location } });
        }
      },
    ),
    defineRoute(
      {
        ...callback,
        path: "/oauth/:provider/login/callback",
        summary: "End of a sign-in: the provider sends people here",
      },
      ({ params, request }) => signIn(params.provider, request),
    ),
    // The address of older versions, which is still registered with providers.
    defineRoute(
      {
        ...callback,
        path: "/oauth/:provider/callback",
        summary: "End of a sign-in, older address",
        hidden: true,
      },
      ({ params, request }) => signIn(params.provider, request),
    ),
  ] as const;
}

function requireProvider({ config }: SignInRoutesParts, id: string): Provider {
  const provider = findProvider(config, id);
  if (provider === undefined) {
    throw new AppError("not_found", "There is no such sign-in provider.");
  }
  return provider;
}

/** Leads to the sign-in page with a word; the reason is in the log. */
function toFailed(
  error: unknown,
  { provider, request }: { readonly provider: Provider; readonly request: RequestInfo },
  { flows, log }: SignInRoutesParts,
): Reply {
  const { word, message } = toFailure(error);
  log.warn({ provider: provider.id, reason: message, error: word }, "a sign-in through a provider failed");
  const headers = { location: `/auth?error=${word}`, "set-cookie": flows.clear(request) };
  return reply(undefined, { status: 303, headers });
}

/** Takes the provider's answer: signs in, or keeps the outcome of a test. */
async function endSignIn(provider: Provider, request: RequestInfo, parts: SignInRoutesParts): Promise<Reply> {
  const { config, flows, trials } = parts;
  try {
    const flow = await flows.take(provider.id, request);
    if (flow.trialOf !== undefined) {
      const trial = await judge(provider, () => flows.finish(provider, flow, request), parts);
      const key = await trials.keep(flow.trialOf, trial);
      const headers = { location: `${trialPage}?trial=${key}`, "set-cookie": flows.clear(request) };
      return reply(undefined, { status: 303, headers });
    }
    const returned = await flows.finish(provider, flow, request);
    const completed = await completeSignIn(returned, { provider, request }, parts);
    const { idToken } = returned.tokens;
    const cookies = [
      ...toReadable(completed.reply.headers["set-cookie"]),
      ...flows.clear(request),
      toCookie("oauth_session_id", completed.sessionId, request),
      ...(config.idTokenCookie && idToken !== undefined && idToken.length < longestCookie
        ? [toCookie("oauth_id_token", idToken, request)]
        : []),
    ];
    const location =
      flow.returnTo === undefined ? "/auth" : `/auth?redirect=${encodeURIComponent(flow.returnTo)}`;
    return reply(undefined, { status: 303, headers: { location, "set-cookie": cookies } });
  } catch (error) {
    return toFailed(error, { provider, request }, parts);
  }
}

/** The address of this platform that the provider leads back to; never made of what the request says alone. */
export function toRedirectUri(
  { id, redirectUris }: Provider,
  publicUrl: string,
  { host }: Pick<RequestInfo, "host">,
): string {
  const given = redirectUris.find((uri) => URL.parse(uri)?.host === host) ?? redirectUris[0];
  if (given === undefined && publicUrl === "") {
    throw new SignInFailure(
      "not_set_up",
      "WEBUI_URL is not set, so that the provider cannot lead back here.",
    );
  }
  return given ?? `${publicUrl.replace(/(?<!\/)\/+$/, "")}/oauth/${id}/login/callback`;
}

/** The session's cookie as clients of the contract read it (§1.1); the first page that loads takes it out of their reach. */
function toReadable(header: Reply["headers"]["set-cookie"]): string[] {
  const cookies = header === undefined ? [] : [header].flat().map(String);
  return cookies.map((cookie) => (cookie.startsWith("token=") ? cookie.replace("; HttpOnly", "") : cookie));
}

function toCookie(name: string, value: string, { protocol }: RequestInfo): string {
  const secure = protocol === "https" ? "; Secure" : "";
  return `${name}=${encodeURIComponent(value)}; Path=/; HttpOnly; SameSite=Lax${secure}`;
}
