import { connect, type Connection } from "#plugins/mcp/client/connection.ts";
import { createServerFetch, withCredential } from "#plugins/mcp/client/server-fetch.ts";
import { createSignIns, type SignInTarget } from "#plugins/mcp/oauth/sign-ins.ts";
import { createOAuthCredential } from "#plugins/mcp/oauth/tokens.ts";
import { AppError } from "#kernel/errors.ts";
import { createMemoryStores } from "#plugins/mcp/oauth/memory-stores.fixture.ts";
import { openEgress } from "#test/support/egress.ts";

/**
 * Drives the platform's MCP client through one scenario of the conformance suite, which passes the server's address as
 * the last argument and expects the exit code 0. A person who signs in is played by following the redirects.
 */
const url = process.argv.at(-1) ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Record<string, string>;
const redirectUrl = "http://localhost:3000/oauth/clients/mcp:conformance/callback";
const mostSignIns = 3;

const egress = openEgress({ timeoutSeconds: () => 30 });
// Scenarios put their authorization server on a port of its own, which no administrator could name.
const everywhere = {
  fetch: (to: string | URL, init: Parameters<typeof egress.fetch>[1]) =>
    egress.fetch(to, { ...init, trust: "operator" }),
};
const fetchServer = createServerFetch({ egress: everywhere, trustedOrigins: [] });
const stores = createMemoryStores();
const signIns = createSignIns({ ...stores, name: () => "Millrace", resourceMode: () => "automatic" });
const { client_id: id, client_secret: secret } = context;
const target: SignInTarget = {
  userId: "person",
  provider: "mcp:conformance",
  url,
  fetchServer,
  authorizationServerUrl: undefined,
  scope: undefined,
  registration: id
    ? { issuer: undefined, information: { client_id: id, ...(secret && { client_secret: secret }) } }
    : undefined,
};
const credential = createOAuthCredential(target, {
  sessions: stores.sessions,
  toSignInText: () => "Sign in",
});

async function signIn(): Promise<void> {
  const documentUrl = "https://conformance-test.local/client-metadata.json";
  const { address, browser } = await signIns.start(target, { redirectUrl, documentUrl, returnTo: "/" });
  const answer = await fetch(address, { redirect: "manual" });
  const back = new URL(answer.headers.get("location") ?? "", address).searchParams;
  await signIns.finish(target, {
    state: back.get("state") ?? "",
    code: back.get("code") ?? undefined,
    error: back.get("error") ?? undefined,
    issuer: back.get("iss") ?? undefined,
    browser,
  });
}

let isSignedIn = false;
async function open(): Promise<Connection> {
  const own = isSignedIn ? credential : { authorization: async () => undefined };
  return await connect({
    url,
    fetch: withCredential(fetchServer, own, {}),
    version: "1",
    initializeTimeoutMs: 10_000,
  });
}

/** Repeats what needs a sign-in after one, as a person would; not for ever. */
async function signedIn<R>(run: () => Promise<R>): Promise<R> {
  for (let count = 0; ; count += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "unauthenticated" || count === mostSignIns) {
        throw error;
      }
      await signIn();
      isSignedIn = true;
    }
  }
}

await signedIn(async () => {
  const connection = await open();
  for (const tool of await connection.tools.read()) {
    await connection.call(
      { name: tool.name, arguments: tool.name === "add_numbers" ? { a: 5, b: 3 } : {} },
      {
        signal: AbortSignal.timeout(20_000),
        timeoutMs: 20_000,
        person: target.userId,
        // A person who sends the form as it stands: the SDK fills in the defaults.
        elicit: async () => ({ action: "accept", content: {} }),
      },
    );
  }
  await connection.close();
});
process.exit(0);
