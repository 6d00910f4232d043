import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
// @ts-expect-error The package comes without types.
import { Provider } from "oidc-provider";

export type TestClaims = Record<string, unknown> & { sub: string };

export interface TestProvider {
  readonly issuer: string;
  /** Who the next sign-in is; null shows a form that asks. */
  login: string | null;
  readonly accounts: Map<string, TestClaims>;
  /** Seconds that access tokens live. */
  lifetime: number;
  /** Requests so far, as `POST /token`. */
  readonly requests: string[];
  close(): Promise<void>;
}

export const client = { id: "millrace", secret: "a-secret-of-the-mill-that-is-long-enough" };

const page = (uid: string) => `<!doctype html><title>Mill ID</title><h1>Mill ID</h1>
  <form method="post" action="/interaction/${uid}"><label>Name <input name="login"></label><button>Sign in</button>
  <button name="refuse" value="1">Refuse</button></form>`;

const scopes = ["openid", "email", "profile", "offline_access"];

interface GrantContext {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: {
      readonly Grant: new (facts: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
    };
  };
}

function toSettings(app: string, accounts: TestProvider["accounts"], state: { lifetime: number }) {
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${app}/oauth/oidc/login/callback`, `${app}/oauth/oidc/callback`],
        post_logout_redirect_uris: [`${app}/auth`],
        grant_types: ["authorization_code", "refresh_token"],
        backchannel_logout_uri: `${app}/oauth/backchannel-logout`,
        backchannel_logout_session_required: true,
      },
      {
        client_id: "other",
        client_secret: client.secret,
        redirect_uris: ["http://127.0.0.1:9/callback"],
      },
    ],
    scopes,
    claims: {
      openid: ["sub", "sid"],
      email: ["email", "email_verified"],
      profile: ["name", "picture", "groups", "realm"],
    },
    pkce: { required: () => true },
    conformIdTokenClaims: false,
    cookies: { keys: ["mill"] },
    // Its own fetch refuses the platform, which stands on this machine.
    fetch: (address: string, { dispatcher: _refusing, ...options }: RequestInit & { dispatcher?: unknown }) =>
      fetch(address, options),
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      introspection: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx: { body: string }, form: string) =>
          void (ctx.body = `<!doctype html>${form}<button form="op.logoutForm" name="logout" value="yes">Yes</button>`),
      },
    },
    ttl: {
      AccessToken: () => state.lifetime,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    issueRefreshToken: () => true,
    findAccount: (_ctx: unknown, id: string) => {
      const found = accounts.get(id);
      return found && { accountId: id, claims: () => found };
    },
    interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    async loadExistingGrant(ctx: GrantContext) {
      const { client: asking, session } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({ clientId: asking.clientId, accountId: session.accountId });
      grant.addOIDCScope(scopes.join(" "));
      await grant.save();
      return grant;
    },
  };
}

/** A provider by `oidc-provider`, which wants PKCE and a secret, for a platform at this address. */
export async function startProvider(app: string): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, TestClaims>();
  const requests: string[] = [];
  const state = { login: null as string | null, lifetime: 3600 };
  const provider = new Provider(issuer, toSettings(app, accounts, state));
  const listen = provider.callback();
  server.on("request", (request, response) => {
    requests.push(`${request.method} ${request.url?.split("?")[0]}`);
    const uid = /^\/interaction\/([\w-]+)$/.exec(request.url ?? "")?.[1];
    if (uid === undefined) {
      void listen(request, response);
      return;
    }
    const finish = (accountId: string | undefined) =>
      provider.interactionFinished(
        request,
        response,
        accountId === undefined
          ? { error: "access_denied", error_description: "The person said no." }
          : { login: { accountId } },
      );
    if (request.method === "POST") {
      let body = "";
      request.on("data", (piece) => (body += String(piece)));
      request.on("end", () => {
        const form = new URLSearchParams(body);
        void finish(form.has("refuse") ? undefined : (form.get("login") ?? ""));
      });
    } else if (state.login === null) {
      response.setHeader("content-type", "text/html").end(page(uid));
    } else {
      void finish(state.login === "" ? undefined : state.login);
    }
  });
  return Object.assign(state, {
    issuer,
    accounts,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

/** A browser without pages: it follows redirects and keeps cookies by origin. */
export function createVisitor() {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (origin: string) => jars.get(origin) ?? (jars.set(origin, new Map()), jars.get(origin)!);
  return {
    cookie: (origin: string, name: string) => jarOf(origin).get(name),
    jarOf,
    /** Every address that was asked, the last one with its answer. Stops before `until`. */
    async go(start: string, { until, init = {} }: { until?: RegExp; init?: RequestInit } = {}) {
      const visited: string[] = [];
      let address = start;
      for (let hops = 0; hops < 15; hops += 1) {
        visited.push(address);
        const jar = jarOf(new URL(address).origin);
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
        const response = await fetch(address, {
          ...(hops === 0 && init),
          redirect: "manual",
          headers: { ...(hops === 0 && (init.headers as Record<string, string>)), ...(cookie && { cookie }) },
        });
        for (const line of response.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) {
            jar.delete(name);
          } else {
            jar.set(name, value);
          }
        }
        const location = response.headers.get("location");
        if (location === null || until?.test(location)) {
          return { visited, response, location, address };
        }
        await response.body?.cancel();
        address = new URL(location, address).href;
      }
      throw new Error(`too many redirects: ${visited.join(" ")}`);
    },
  };
}
