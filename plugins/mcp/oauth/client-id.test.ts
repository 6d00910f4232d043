import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { finishSignIn, refresh, revoke } from "./sign-in.ts";

/** Looks clients up as the Python SDK (FastMCP) does: by the id in the body, then by their secret wherever it comes. */
async function startTokenEndpoint(accept: (form: URLSearchParams, authorization: string) => boolean) {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += String(piece)));
    request.on("end", () => {
      const isKnown = accept(new URLSearchParams(body), request.headers.authorization ?? "");
      const answer = isKnown
        ? { access_token: "a", token_type: "Bearer", refresh_token: "r" }
        : { error: "invalid_client" };
      response
        .writeHead(isKnown ? 200 : 401, { "content-type": "application/json" })
        .end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const basic = `Basic ${Buffer.from("house:hidden").toString("base64")}`;

it.each([
  {
    offered: ["client_secret_basic", "client_secret_post"],
    accept: (form: URLSearchParams, authorization: string) =>
      form.get("client_id") === "house" && form.get("client_secret") === null && authorization === basic,
  },
  {
    offered: ["client_secret_post"],
    accept: (form: URLSearchParams, authorization: string) =>
      form.get("client_id") === "house" && form.get("client_secret") === "hidden" && authorization === "",
  },
  {
    offered: ["client_secret_basic"],
    accept: (form: URLSearchParams, authorization: string) =>
      form.get("client_id") === null && authorization === basic,
  },
])("a client is known by its id at a server that offers $offered", async ({ offered, accept }) => {
  const seen: boolean[] = [];
  const server = await startTokenEndpoint((form, authorization) => {
    seen.push(accept(form, authorization));
    return seen.at(-1) === true;
  });
  const metadata = {
    issuer: server.url,
    authorization_endpoint: `${server.url}/authorize`,
    token_endpoint: `${server.url}/token`,
    revocation_endpoint: `${server.url}/revoke`,
    response_types_supported: ["code"],
    token_endpoint_auth_methods_supported: offered,
  };
  const from = {
    url: `${server.url}/mcp`,
    scope: undefined,
    discovered: { issuer: server.url, metadata, resource: undefined, scopes: [] },
    client: { issuer: server.url, information: { client_id: "house", client_secret: "hidden" } },
  };
  const pending = { ...from, verifier: "v", redirectUrl: `${server.url}/back` };
  const set = await finishSignIn(pending, { code: "c", issuer: undefined }, fetch);
  await revoke(await refresh(set, fetch), fetch);
  expect(seen).toEqual([true, true, true]);
  await server.close();
});
