import { request } from "node:http";
import { createHash, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { jwtVerify } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { setUp } from "#test/support/set-up.ts";
import { startTerminalServer, type TerminalServer } from "#test/support/terminal/server.ts";
import { connect, entryOf, everyone, makeChat, makeSession } from "../terminals.fixture.ts";

let app: App;
let server: TerminalServer;
let ann: TestUser;
let bob: TestUser;
const at = "/api/v1/terminals/box";

setUp(async (keep) => {
  server = await keep(startTerminalServer());
  app = await keep(startApp({ env: { TERMINAL_PROXY_MAX_BYTES: "3000000" } }));
  [ann, bob] = [await app.user(), await app.user()];
  await connect(app, entryOf(server, { config: everyone }), entryOf(server, { id: "closed" }));
});
beforeEach(() => {
  server.seen.length = 0;
});

describe("requests", () => {
  it("write, list, read, move, upload and delete files, with bytes as they are", async () => {
    const put = await ann.call(`POST ${at}/files/write`, { path: "note.txt", content: "hällo" });
    expect(put.body).toMatchObject({ path: join(server.home, "note.txt"), size: 6 });
    const form = new FormData();
    const bytes = randomBytes(2_000_000);
    form.append("file", new File([bytes], "big.bin"));
    const up = await ann.call(`POST ${at}/files/upload?directory=.`, form);
    expect([up.status, up.body.size]).toEqual([200, 2_000_000]);
    const list = await ann.call(`GET ${at}/files/list?directory=.`);
    expect(list.body.entries.map((entry: { name: string }) => entry.name)).toEqual(["big.bin", "note.txt"]);
    const down = await fetch(`${app.url}${at}/files/view?path=big.bin`, {
      headers: { authorization: `Bearer ${ann.token}` },
    });
    expect(hash(Buffer.from(await down.arrayBuffer()))).toBe(hash(bytes));
    const moved = { source: "note.txt", destination: "word.txt" };
    expect((await ann.call(`POST ${at}/files/move`, moved)).status).toBe(200);
    expect(await readFile(join(server.home, "word.txt"), "utf8")).toBe("hällo");
    expect((await ann.call(`DELETE ${at}/files/delete?path=word.txt`)).status).toBe(200);
    expect((await ann.call(`DELETE ${at}/files/delete?path=word.txt`)).body).toEqual({
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
    await ann.call(`GET ${at}/files/cwd`, undefined, headers);
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
      await user.call(`GET ${at}/files/cwd`, undefined, { "x-session-id": chatId });
      return server.seen.at(-1)!.headers["x-session-id"];
    };
    expect([await name(ann), await name(bob)]).toEqual([chatId, undefined]);
  });

  it("bring back no cookie, no redirect and no document that could run here", async () => {
    const page = await ann.call(`GET ${at}/cookie`);
    expect([page.text, page.headers.get("set-cookie")]).toEqual(["<b>hi</b>", null]);
    expect(page.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect((await ann.call(`GET ${at}/redirect`)).status).toBe(502);
  });

  it("are held to the size that is set, both ways", async () => {
    const body = { path: "large.txt", content: "x".repeat(3_000_001) };
    expect((await ann.call(`POST ${at}/files/write`, body)).status).toBe(413);
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
    expect((await ann.call(`GET ${at}/files/view?path=large.bin`)).status).toBe(413);
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
    expect((await pending.call(`GET ${at}/files/cwd`)).status).toBe(403);
    const answers = ["unknown", "closed"].map((id) => ann.call(`GET /api/v1/terminals/${id}/files/cwd`));
    const [unknown, foreign] = await Promise.all(answers);
    expect([unknown!.status, foreign!.status]).toEqual([503, 503]);
    expect(unknown!.body).toEqual(foreign!.body);
    expect(server.seen).toEqual([]);
  });

  it("for sessions of somebody else, which are not listed either", async () => {
    const session = await makeSession(app, ann);
    server.seen.length = 0;
    for (const method of ["GET", "DELETE", "POST", "PUT", "PATCH"]) {
      const answer = await bob.call(`${method} ${at}/api/terminals/${session}`);
      expect([answer.status, answer.body.detail]).toEqual([404, "Session not found"]);
    }
    expect(server.seen).toEqual([]);
    const list = async (user: TestUser) => (await user.call(`GET ${at}/api/terminals`)).body;
    expect(await list(bob)).toEqual([]);
    expect(await list(ann)).toEqual([{ id: session }]);
    expect((await ann.call(`DELETE ${at}/api/terminals/${session}`)).status).toBe(200);
  });
});

it("answers 503 while the server is away or refuses the key", async () => {
  const gone = await startTerminalServer();
  await connect(app, entryOf(gone, { config: everyone, key: "wrong" }));
  expect((await ann.call(`GET ${at}/files/cwd`)).status).toBe(503);
  await gone.close();
  expect((await ann.call(`GET ${at}/files/cwd`)).status).toBe(503);
});

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
