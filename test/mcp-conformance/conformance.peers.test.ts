import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

// The published conformance suite against the platform's MCP client: each scenario starts a server and runs `client.ts`.

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const program = here("../../node_modules/@modelcontextprotocol/conformance/dist/index.js");
const run = promisify(execFile);

/** Scenarios of version 0.1.16 that a client of people can pass; the others sign programs in without anybody. */
const scenarios = [
  "initialize",
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "sse-retry",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/pre-registration",
  "auth/2025-03-26-oauth-metadata-backcompat",
  "auth/2025-03-26-oauth-endpoint-fallback",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
];
/** A scenario of each kind runs always; all of them with MCP_CONFORMANCE=all, as before a release. */
const always = new Set([
  "tools_call",
  "elicitation-sep1034-client-defaults",
  "auth/scope-step-up",
  "auth/resource-mismatch",
]);
// oxlint-disable-next-line node/no-process-env -- a choice of whoever runs the tests
const isAll = process.env["MCP_CONFORMANCE"] === "all";

describe.concurrent("the MCP client passes the conformance scenario", () => {
  test.for(scenarios.filter((name) => isAll || always.has(name)))(
    "%s",
    { timeout: 120_000 },
    async (name) => {
      const { stderr } = await run(process.execPath, [
        "--import",
        here("loopback.mjs"),
        program,
        "client",
        "--command",
        `${process.execPath} ${here("client.ts")}`,
        "--scenario",
        name,
        "--timeout",
        "90000",
      ]).catch((error: { stderr?: string }) => ({ stderr: error.stderr ?? "" }));
      expect(stderr).toMatch(/OVERALL: PASSED/);
    },
  );
});
