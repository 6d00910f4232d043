import { createHmac, generateKeyPairSync, sign as signWith } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actorEnvironment } from "#test/support/actors.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";

const secret = "k3y-for-tests-that-is-long-enough-0123456789";
let app: App;
let user: TestUser;

beforeAll(async () => {
  app = await startApp({ env: { ...actorEnvironment, WEBUI_SECRET_KEY: secret } });
  user = await app.user();
});
afterAll(() => app?.close());

const me = async (token: string) => (await app.call("GET /api/v1/auths", { token })).status;
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

function forge(header: object, claims: object, key: string = secret): string {
  const head = `${encode(header)}.${encode(claims)}`;
  return `${head}.${createHmac("sha256", key).update(head).digest("base64url")}`;
}

describe("a forged session token (S103)", () => {
  const head = { alg: "HS256", typ: "JWT" };

  it("is told from a genuine one by nothing but the key", async () => {
    // The control: the same way of forging with the right key is accepted, so the refusals below are for their reason.
    expect(await me(forge(head, claimsOf(user.token)))).toBe(200);
    expect(await me(forge(head, claimsOf(user.token), `${secret}x`))).toBe(401);
    expect(await me(forge(head, claimsOf(user.token), ""))).toBe(401);
  });

  it.each(["none", "None", "NONE", ""])("without a signature, alg %j, is refused", async (alg) => {
    const unsigned = `${encode({ alg, typ: "JWT" })}.${encode(claimsOf(user.token))}.`;
    expect(await me(unsigned)).toBe(401);
    expect(await me(`${unsigned}${user.token.split(".")[2]}`)).toBe(401);
  });

  it("signed by another algorithm is refused, also with the same secret", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const body = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claimsOf(user.token))}`;
    expect(
      await me(`${body}.${signWith("sha256", Buffer.from(body), privateKey).toString("base64url")}`),
    ).toBe(401);
    const longer = `${encode({ alg: "HS512", typ: "JWT" })}.${encode(claimsOf(user.token))}`;
    expect(await me(`${longer}.${createHmac("sha512", secret).update(longer).digest("base64url")}`)).toBe(
      401,
    );
  });

  it.each<[string, object, object]>([
    ["expired", head, { exp: 1_700_000_000 }],
    ["naming a key of its own", { ...head, kid: "../../dev/null" }, {}],
    ["bringing its own key", { ...head, jwk: { kty: "oct", k: "AAAA" } }, { id: "x" }],
    ["of another account with this one's stamp", head, { id: "00000000-0000-4000-8000-000000000000" }],
    ["with an old stamp", head, { session_stamp: "00000000-0000-4000-8000-000000000000" }],
    ["of another type", head, { typ: "user-info" }],
    ["without an id", head, { id: undefined }],
    ["whose id is an object", head, { id: { $ne: null } }],
    ["with critical extensions", { ...head, crit: ["b64"], b64: false }, {}],
  ])("%s is refused", async (_what, header, claims) => {
    expect(await me(forge(header, { ...claimsOf(user.token), ...claims }))).toBe(401);
  });

  it("for another account does not inherit the place of a genuine one in a cache (S101)", async () => {
    const other = await app.user();
    // Header and the first claims are the same in both: only the whole token tells them apart.
    const claims = { typ: "session", iat: 1, ...claimsOf(user.token) };
    const [first, second] = [forge(head, claims), forge(head, { ...claims, ...claimsOf(other.token) })];
    expect(first.slice(0, 40)).toBe(second.slice(0, 40));
    const ask = async (token: string) => (await app.call("GET /api/v1/auths", { token })).body.id;
    expect([await ask(first), await ask(second), await ask(first)]).toEqual([user.id, other.id, user.id]);
    expect(await me(`${first}x`)).toBe(401);
    expect(await me(first.slice(0, -1))).toBe(401);
  });
});

describe("an API key", () => {
  let key: string;
  beforeAll(async () => {
    key = (await user.call("POST /api/v1/auths/api_key")).body.api_key;
  });

  it("is matched whole: no part, no other spelling, no pattern of it is a key", async () => {
    expect(await me(key)).toBe(200);
    const guesses = [
      key.slice(0, -1),
      key.slice(0, 20),
      `${key}0`,
      key.toUpperCase(),
      "sk-%",
      `sk-${"_".repeat(64)}`,
      "sk-' or '1'='1",
    ];
    expect(await Promise.all(guesses.map(me))).toEqual(guesses.map(() => 401));
    expect(await me(key.replace("sk-", "sk-gw-"))).toBe(403);
  });

  it("and its hash are two things: what the database holds opens nothing", async () => {
    const { rows } = await app.running.database.query("select key from api_key where user_id = $1", [
      user.id,
    ]);
    expect(rows).toHaveLength(1);
    expect(rows[0].key).not.toContain(key.slice(3, 40));
    expect([await me(rows[0].key), await me(`sk-${rows[0].key}`)]).toEqual([401, 401]);
  });

  it("of an owner without the permission, or with the toggle off, is forbidden at once (S135)", async () => {
    const admin = await app.admin();
    const permissions = (api_keys: boolean) =>
      admin.call("POST /api/v1/users/default/permissions", { features: { api_keys } });
    const toggle = (ENABLE_API_KEYS: boolean) =>
      admin.call("POST /api/v1/auths/admin/config", { ENABLE_API_KEYS });
    await permissions(false);
    expect(await me(key)).toBe(403);
    await permissions(true);
    expect(await me(key)).toBe(200);
    await toggle(false);
    expect(await me(key)).toBe(403);
    expect((await user.call("POST /api/v1/auths/api_key")).status).toBe(403);
    await toggle(true);
    expect(await me(key)).toBe(200);
  });

  it("is no session: it gets no cookie", async () => {
    const answer = await app.call("GET /api/v1/auths", { token: key });
    expect(answer.headers.getSetCookie()).toEqual([]);
  });
});

describe("a credential", () => {
  it("that is given twice is the header's: none slips in behind a good one", async () => {
    const other = await app.user();
    const ask = async (headers: Record<string, string>) => await app.call("GET /api/v1/auths", { headers });
    const both = await ask({
      "x-api-key": user.token,
      authorization: `Bearer ${other.token}`,
      cookie: `token=${other.token}`,
    });
    expect(both.body.id).toBe(user.id);
    // A bad one decides as well: there is no falling back to a weaker place.
    expect((await ask({ "x-api-key": "nonsense", authorization: `Bearer ${other.token}` })).status).toBe(401);
    expect((await ask({ authorization: "Bearer nonsense", cookie: `token=${other.token}` })).status).toBe(
      401,
    );
  });

  it("beyond any honest length is refused unread", async () => {
    expect(await me(`${user.token}${"a".repeat(9_000)}`)).toBe(401);
  });

  it("in the address is none", async () => {
    for (const name of ["token", "api_key", "access_token", "key", "authorization"]) {
      expect((await app.call(`GET /api/v1/auths?${name}=${user.token}`)).status).toBe(401);
    }
  });
});
