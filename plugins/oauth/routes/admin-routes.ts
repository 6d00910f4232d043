import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { isMasked, maskKey } from "#kernel/upstream/mask.ts";
import { oauthVariables } from "../config.ts";
import type { OAuth } from "../create-oauth.ts";
import { toFailure } from "../failure.ts";
import { listProviders } from "../providers.ts";
import { Trial } from "../sign-in/trials.ts";
import { toRedirectUri } from "./sign-in-routes.ts";

const Fields = z.record(z.string(), z.unknown());

const ProviderView = z.object({
  id: z.string(),
  label: z.string(),
  address: z.string(),
  redirect_uri: z.string().nullable(),
  /** Why nobody can sign in with it; null when nothing is missing. */
  problem: z.string().nullable(),
});

const Check = z.object({
  ok: z.boolean(),
  detail: z.string(),
  ms: z.number(),
  /** Address of the sign-out, where the provider has one. */
  ends_sessions: z.boolean(),
});

/** The settings of sign-ins through providers, and their dry run: `/api/v1/auths/admin` (contract §1.2). */
export function adminRoutes(oauth: OAuth) {
  return [...configRoutes(oauth), ...providerRoutes(oauth), trialRoute(oauth)] as const;
}

/** Variables of the form: those that follow the rules of OAuth persistence. */
const variables = Object.values(oauthVariables).filter(({ oauth }) => oauth);

function configRoutes({ configuration }: OAuth) {
  const facts = { path: "/auths/admin/config/oauth", access: "admin", returns: Fields } as const;
  const read = () =>
    Object.fromEntries(
      variables.map(({ name, secret }) => {
        const value = secret
          ? maskKey(String(configuration.valueOf(name) ?? ""))
          : configuration.jsonOf(name);
        return [name, value];
      }),
    );
  return [
    defineRoute({ method: "GET", ...facts, summary: "Read the settings of sign-in through providers" }, read),
    defineRoute(
      {
        method: "POST",
        ...facts,
        summary: "Change settings of sign-in through providers; fields left out keep their value",
        body: Fields,
        fails: [400],
      },
      async ({ body, caller }) => {
        const names = new Set<string>(variables.map(({ name }) => name));
        const unknown = Object.keys(body).find((name) => !names.has(name));
        if (unknown !== undefined) {
          throw new AppError(
            "invalid",
            `${unknown.slice(0, 100)} is no setting of sign-in through providers.`,
          );
        }
        const secrets = new Set<string>(variables.filter(({ secret }) => secret).map(({ name }) => name));
        // A shown secret stands for the stored one.
        const changes = Object.entries(body).filter(
          ([name, value]) => !secrets.has(name) || !isMasked(String(value)),
        );
        await configuration.set(Object.fromEntries(changes), caller.userId);
        return read();
      },
    ),
  ];
}

function providerRoutes({ config, configuration, peers }: OAuth) {
  const isReadOnly = () => configuration.valueOf("ENABLE_OAUTH_PERSISTENT_CONFIG") !== true;
  return [
    defineRoute(
      {
        method: "GET",
        path: "/auths/admin/oauth/providers",
        summary: "List the providers that people sign in with",
        access: "admin",
        returns: z.object({ providers: z.array(ProviderView), read_only: z.boolean() }),
      },
      ({ request }) => ({
        read_only: isReadOnly(),
        providers: listProviders(config).map((provider) => {
          const { id, label, url: address } = provider;
          try {
            return {
              id,
              label,
              address,
              redirect_uri: toRedirectUri(provider, config.publicUrl, request),
              problem: null,
            };
          } catch (error) {
            return { id, label, address, redirect_uri: null, problem: toFailure(error).message };
          }
        }),
      }),
    ),
    defineRoute(
      {
        method: "POST",
        path: "/auths/admin/oauth/providers/:provider/check",
        summary: "Ask a provider to describe itself",
        access: "admin",
        params: z.object({ provider: z.string().min(1).max(50) }),
        returns: Check,
        fails: [404],
      },
      async ({ params }) => {
        const provider = listProviders(config).find(({ id }) => id === params.provider);
        if (provider === undefined) {
          throw new AppError("not_found", "There is no such sign-in provider.");
        }
        const started = performance.now();
        const took = () => Math.round(performance.now() - started);
        try {
          const server = (await peers.open(provider)).serverMetadata();
          const ends = server.end_session_endpoint !== undefined || provider.endSessionUrl !== "";
          return { ok: true, detail: server.issuer, ms: took(), ends_sessions: ends };
        } catch (error) {
          return { ok: false, detail: toFailure(error).message, ms: took(), ends_sessions: false };
        }
      },
    ),
  ];
}

function trialRoute({ trials }: OAuth) {
  return defineRoute(
    {
      method: "GET",
      path: "/auths/admin/oauth/trials/:id",
      summary: "Read the outcome of a login that the caller tried",
      access: "admin",
      params: z.object({ id: z.string().min(1).max(100) }),
      returns: Trial,
      fails: [404],
    },
    async ({ params, caller }) => {
      const trial = await trials.read(params.id, caller.userId);
      if (trial === undefined) {
        throw new AppError("not_found", "This test is over, or somebody else's. Start it again.");
      }
      return trial;
    },
  );
}
