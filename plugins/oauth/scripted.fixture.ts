import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: unknown;
}

export type Script = (request: {
  url: URL;
  form: URLSearchParams;
  headers: IncomingMessage["headers"];
}) => Answer | "silence";

/** A provider whose every answer a test writes; it signs ID tokens as told. */
export interface ScriptedProvider {
  readonly url: string;
  /** By path; a test replaces what it wants answered otherwise. */
  readonly answers: Record<string, Script>;
  /** Claims of the next ID token, on top of sound ones. */
  claims: JWTPayload;
  /** Makes the ID token of the claims, where not the sound way. */
  sign: ((claims: JWTPayload) => Promise<string>) | undefined;
  readonly key: CryptoKey;
  /** Signs with a new key from now on, and publishes it in place of the old one. */
  rotate(kid: string): Promise<void>;
  signed(claims: JWTPayload): Promise<string>;
  readonly seen: {
    readonly path: string;
    readonly form: URLSearchParams;
    readonly headers: IncomingMessage["headers"];
  }[];
  close(): Promise<void>;
}

export const scriptedClient = { id: "scripted", secret: "scripted-secret" };

/** `issuer` is what documents and tokens name, as a path below the address. */
export async function startScripted(issuerPath = ""): Promise<ScriptedProvider> {
  let current = await makeKey("one");
  let nonce: string | undefined;
  const respond = (request: IncomingMessage, response: ServerResponse, body: string) => {
    const at = new URL(request.url ?? "/", provider.url);
    const form = new URLSearchParams(body);
    provider.seen.push({ path: at.pathname, form, headers: request.headers });
    const answer = provider.answers[at.pathname]?.({ url: at, form, headers: request.headers }) ?? {
      status: 404,
    };
    if (answer !== "silence") {
      writeAnswer(response, answer);
    }
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => (body += String(piece)));
    request.on("end", () => {
      const at = new URL(request.url ?? "/", provider.url);
      if (/^\/(login\/oauth\/|open-apis\/authen\/v1\/)?authorize$/.test(at.pathname)) {
        nonce = at.searchParams.get("nonce") ?? undefined;
        const back = new URL(at.searchParams.get("redirect_uri") ?? "");
        back.searchParams.set("code", "a-code");
        back.searchParams.set("state", at.searchParams.get("state") ?? "");
        provider.answers["/callback-extras"]?.({ url: back, form: back.searchParams, headers: {} });
        response.writeHead(302, { location: back.href }).end();
        return;
      }
      if (at.pathname === "/token" && provider.answers["/token"] === undefined) {
        const claims = { ...sound(), ...provider.claims };
        void (provider.sign ?? provider.signed)(claims).then((idToken) => {
          const answer = {
            access_token: "an-access-token",
            token_type: "Bearer",
            expires_in: 60,
            id_token: idToken,
          };
          response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
        });
        return;
      }
      respond(request, response, body);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer = url + issuerPath;
  const sound = () => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: issuer,
      aud: scriptedClient.id,
      sub: "ada",
      iat: now,
      exp: now + 300,
      ...(nonce && { nonce }),
    };
  };
  const provider: ScriptedProvider = {
    url,
    claims: {},
    sign: undefined,
    get key() {
      return current.privateKey;
    },
    async rotate(kid) {
      current = await makeKey(kid);
    },
    seen: [],
    signed: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: current.jwk.kid }).sign(current.privateKey),
    answers: toDocuments({ url, issuer, issuerPath, jwk: () => current.jwk }),
    close: () => closeServer(server),
  };
  return provider;
}

function writeAnswer(
  response: ServerResponse,
  { status = 200, type = "application/json", body = {} }: Answer,
) {
  const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  response.writeHead(status, { "content-type": type }).end(text);
}

function closeServer(server: Server): Promise<void> {
  return new Promise<void>((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });
}

async function makeKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" } };
}

function toDocuments({
  url,
  issuer,
  issuerPath,
  jwk,
}: Record<"url" | "issuer" | "issuerPath", string> & { jwk: () => object }): Record<string, Script> {
  return {
    [`${issuerPath}/.well-known/openid-configuration`]: () => ({
      body: {
        issuer,
        authorization_endpoint: `${url}/authorize`,
        token_endpoint: `${url}/token`,
        jwks_uri: `${url}/keys`,
        response_types_supported: ["code"],
        id_token_signing_alg_values_supported: ["RS256"],
        authorization_response_iss_parameter_supported: false,
      },
    }),
    "/keys": () => ({ body: { keys: [jwk()] } }),
  };
}
