import { request } from "node:http";
import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";
import { connect, entryOf, everyone, makeChat, makeSession } from "../terminals.fixture.ts";

let app: App;
let server: TerminalServer;
let ann: TestUser;
let bob: TestUser;
const at = "/api/v1/terminals/box";

beforeAll(async () => {
  server = await startTerminalServer();
  app = await startApp({ env: { TERMINAL_PROXY_MAX_BYTES: "3000000" } });
  [ann, bob] = [await app.user(), await app.user()];
  await connect(app, entryOf(server, { config: everyone }), entryOf(server, { id: "closed" }));
});
afterAll(async () => {
  await app.close();
  await server.close();
});
beforeEach(() => {
  server.seen.length = 0;
});

describe("requests", () => {
  it("write, list, read, move, upload and delete files, with bytes as they are", async () => {
    const { token } = ann;
    const put = await app.call(`POST ${at}/files/write`, {
      token,
      body: { path: "note.txt", content: "hällo" },
    });
    expect(put.body).toMatchObject({ path: join(server.home, "note.txt"), size: 6 });
    const form = new FormData();
    const bytes = randomBytes(2_000_000);
    form.append("file", new File([bytes], "big.bin"));
    const up = await app.call(`POST ${at}/files/upload?directory=.`, { token, body: form });
    expect([up.status, up.body.size]).toEqual([200, 2_000_000]);
    const list = await app.call(`GET ${at}/files/list?directory=.`, { token });
    expect(list.body.entries.map((entry: { name: string }) => entry.name)).toEqual(["big.bin", "note.txt"]);
    const down = await fetch(`${app.url}${at}/files/view?path=big.bin`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(hash(Buffer.from(await down.arrayBuffer()))).toBe(hash(bytes));
    const moved = { source: "note.txt", destination: "word.txt" };
    expect((await app.call(`POST ${at}/files/move`, { token, body: moved })).status).toBe(200);
    expect(await readFile(join(server.home, "word.txt"), "utf8")).toBe("hällo");
    expect((await app.call(`DELETE ${at}/files/delete?path=word.txt`, { token })).status).toBe(200);
    expect((await app.call(`DELETE ${at}/files/delete?path=word.txt`, { token })).body).toEqual({
      detail: "Path not found",
    });
  });

  it("reach the server with the connection's key and a signed identity, and with nothing else of the caller", async () => {
    const headers = {
      cookie: "token=secret-cookie; other=1",
      "x-user-id": "forged",
      "x-session-id": "forged-chat",
      "x-service-identity": "forged",
      "x-forwarded-for": "6.6.6.6",
      "x-service-user-email": "forged@evil.test",
      referer: "https://forged.test/",
    };
    await app.call(`GET ${at}/files/cwd`, { token: ann.token, headers });
    const seen = server.seen.at(-1)!;
    expect(seen.headers).toMatchObject({ authorization: `Bearer ${server.key}`, "x-user-id": ann.id });
    expect(JSON.stringify(seen.headers)).not.toMatch(
      new RegExp(`forged|6\\.6\\.6\\.6|secret-cookie|${ann.token}`),
    );
    const identity = seen.headers["x-service-identity"] as string;
    const secret = new TextEncoder().encode(server.key);
    const { payload } = await jwtVerify(identity, secret, { issuer: "millrace", audience: "box" });
    expect(payload).toMatchObject({ sub: ann.id });
    expect(payload.exp! - payload.iat!).toBe(300);
  });

  it("name the caller's own chat, and no other one", async () => {
    const chatId = await makeChat(app, ann);
    const name = async (user: TestUser) => {
      await app.call(`GET ${at}/files/cwd`, { token: user.token, headers: { "x-session-id": chatId } });
      return server.seen.at(-1)!.headers["x-session-id"];
    };
    expect([await name(ann), await name(bob)]).toEqual([chatId, undefined]);
  });

  it("bring back no cookie, no redirect and no document that could run here", async () => {
    const page = await app.call(`GET ${at}/cookie`, { token: ann.token });
    expect([page.text, page.headers.get("set-cookie")]).toEqual(["<b>hi</b>", null]);
    expect(page.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect((await app.call(`GET ${at}/redirect`, { token: ann.token })).status).toBe(502);
  });

  it("are held to the size that is set, both ways", async () => {
    const body = { path: "large.txt", content: "x".repeat(3_000_001) };
    expect((await app.call(`POST ${at}/files/write`, { token: ann.token, body })).status).toBe(413);
    const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) });
    const streamed = fetch(`${app.url}${at}/files/upload?directory=.`, {
      method: "POST",
      headers: { authorization: `Bearer ${ann.token}` },
      body: endless,
      duplex: "half",
    } as RequestInit).then(
      ({ status }) => status,
      () => 413,
    );
    expect(await streamed).toBe(413);
    await writeFile(join(server.home, "large.bin"), Buffer.alloc(3_000_001));
    expect((await app.call(`GET ${at}/files/view?path=large.bin`, { token: ann.token })).status).toBe(413);
  });
});

describe("refused before anything is contacted", () => {
  const raw = (path: string, token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(app.url);
      const sent = request(
        { hostname, port, path, headers: { authorization: `Bearer ${token}` } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        },
      );
      sent.on("error", reject).end();
    });

  it.each([
    `${at}/../secret`,
    `${at}/files/../../x`,
    `${at}/%2e%2e/x`,
    `${at}/%252e%252e/x`,
    `${at}/files%2flist`,
    `${at}/files%5clist`,
    `${at}//127.0.0.1:1/x`,
    `${at}/http://127.0.0.1:1/x`,
    `${at}/https:%2f%2f127.0.0.1/x`,
    `${at}/a%00b`,
    `${at}/a%0d%0aset-cookie:x`,
    `http://127.0.0.1:1${at}/x`,
    `/api/v1/terminals/closed/../box/files/cwd`,
    `/api/v1/terminals/box%2f..%2fclosed/files/cwd`,
  ])("the path %s", async (path) => {
    expect(await raw(path, ann.token)).toBeGreaterThanOrEqual(400);
    expect(server.seen).toEqual([]);
  });

  it("without a session, by pending accounts, and to terminals that are unknown, foreign or off", async () => {
    const pending = await app.user("pending");
    expect((await app.call(`GET ${at}/files/cwd`)).status).toBe(401);
    expect((await app.call(`GET ${at}/files/cwd`, { token: pending.token })).status).toBe(403);
    const answers = ["unknown", "closed"].map((id) =>
      app.call(`GET /api/v1/terminals/${id}/files/cwd`, { token: ann.token }),
    );
    const [unknown, foreign] = await Promise.all(answers);
    expect([unknown!.status, foreign!.status]).toEqual([503, 503]);
    expect(unknown!.body).toEqual(foreign!.body);
    expect(server.seen).toEqual([]);
  });

  it("for sessions of somebody else, which are not listed either", async () => {
    const session = await makeSession(app, ann);
    server.seen.length = 0;
    for (const method of ["GET", "DELETE", "POST", "PUT", "PATCH"]) {
      const answer = await app.call(`${method} ${at}/api/terminals/${session}`, { token: bob.token });
      expect([answer.status, answer.body.detail]).toEqual([404, "Session not found"]);
    }
    expect(server.seen).toEqual([]);
    const list = async (user: TestUser) =>
      (await app.call(`GET ${at}/api/terminals`, { token: user.token })).body;
    expect(await list(bob)).toEqual([]);
    expect(await list(ann)).toEqual([{ id: session }]);
    expect((await app.call(`DELETE ${at}/api/terminals/${session}`, { token: ann.token })).status).toBe(200);
  });
});

it("answers 503 while the server is away or refuses the key", async () => {
  const gone = await startTerminalServer();
  await connect(app, entryOf(gone, { config: everyone, key: "wrong" }));
  expect((await app.call(`GET ${at}/files/cwd`, { token: ann.token })).status).toBe(503);
  await gone.close();
  expect((await app.call(`GET ${at}/files/cwd`, { token: ann.token })).status).toBe(503);
});

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
