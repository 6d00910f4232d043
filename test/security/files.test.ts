import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { upload } from "#plugins/files/client.fixture.ts";
import { type Answer, type App, startApp, type TestUser } from "#test/support/app.ts";
import { unknownId } from "#test/support/probe.ts";
import { sendRaw, toRequest } from "./raw.fixture.ts";

let app: App;
let user: TestUser;
let victim: TestUser;
let secret: { id: string };

beforeAll(async () => {
  app = await startApp({ env: { RAG_FILE_MAX_SIZE: "1" } });
  [user, victim] = [await app.user(), await app.user()];
  secret = (
    await upload(app, ["secret.txt", "nobody else's text"], {
      token: victim.token,
      query: "?process_in_background=false",
      metadata: JSON.stringify({ diary: true }),
    })
  ).body;
});
afterAll(() => app?.close());

const routes = [
  "GET /api/v1/files/ID",
  "GET /api/v1/files/ID/content",
  "GET /api/v1/files/ID/content?attachment=true",
  "GET /api/v1/files/ID/content/html",
  "GET /api/v1/files/ID/content/secret.txt",
  "GET /api/v1/files/ID/data/content",
  "GET /api/v1/files/ID/process/status",
  "GET /api/v1/files/ID/process/status?stream=true",
  "POST /api/v1/files/ID/rename",
  "POST /api/v1/files/ID/data/content/update",
  "DELETE /api/v1/files/ID",
];

async function ask(route: string, id: string): Promise<[number, string]> {
  const body = route.startsWith("POST")
    ? { filename: "stolen.txt", content: "stolen", user_id: user.id }
    : undefined;
  const { status, text } = await user.call(route.replace("ID", id), body);
  return [status, text];
}

describe("somebody else's file (S17)", () => {
  it.each(routes)("is to %s as if it did not exist, and stays as it is", async (route) => {
    const look = async () => {
      const [record, bytes] = await Promise.all([
        victim.call(`GET /api/v1/files/${secret.id}`),
        victim.call(`GET /api/v1/files/${secret.id}/content`),
      ]);
      return [record.body, bytes.text];
    };
    const before = await look();
    expect(await ask(route, secret.id)).toEqual(await ask(route, unknownId));
    expect((await ask(route, secret.id))[0]).toBe(404);
    expect(await look()).toEqual(before);
  });

  it("does not come up in lists, counts and searches", async () => {
    for (const path of ["files/", "files/?page=1&content=true", "files/search?filename=*"]) {
      expect((await user.call(`GET /api/v1/${path}`)).text).not.toContain(secret.id);
    }
    expect((await user.call("GET /api/v1/files/count")).body.count).toBe(0);
  });

  it("is not made one's own by naming its hash, id or collection in an upload", async () => {
    const { body } = await victim.call(`GET /api/v1/files/${secret.id}`);
    const metadata = JSON.stringify({
      file_hash: body.hash,
      id: secret.id,
      user_id: victim.id,
      collection_name: `file-${secret.id}`,
    });
    const made = await upload(app, ["mine.txt", "mine"], { token: user.token, metadata });
    expect([
      made.status,
      made.body.id === secret.id,
      made.body.user_id,
      made.body.hash === body.hash,
    ]).toEqual([200, false, user.id, false]);
    expect(made.body.meta.collection_name).toBe(`file-${made.body.id}`);
    expect((await user.call(`GET /api/v1/files/${made.body.id}/content`)).text).toBe("mine");
  });
});

describe("an id that is no id (S25)", () => {
  it.each([
    "x' or '1'='1",
    "x' or resource_id != ''--",
    "%",
    "_",
    `${unknownId}'`,
    "%00",
    "..%2f..",
    "%2e%2e",
    "🦔",
    "a".repeat(190),
    "null",
    "{}",
  ])("%j is one that does not exist", async (id) => {
    for (const route of routes) {
      const { status, text } = await app.call(
        route.replace("ID", encodeURIComponent(decodeURIComponent(id.replace(/%(?![0-9a-f]{2})/gi, "%25")))),
        { token: user.token, ...(route.startsWith("POST") && { body: { filename: "x", content: "x" } }) },
      );
      expect([route, [400, 404, 422].includes(status)]).toEqual([route, true]);
      expect(text).not.toMatch(/syntax|select |from "|postgres|pglite|kysely|invalid input/i);
    }
  });

  it("in a search is a name and no pattern of the database's own", async () => {
    for (const name of ["' or true--", "%", "_____________", "\\", "%'); delete from file;--"]) {
      expect(
        (await victim.call(`GET /api/v1/files/search?filename=${encodeURIComponent(name)}`)).status,
      ).toBe(404);
    }
    const stars = await victim.call(
      `GET /api/v1/files/search?filename=${encodeURIComponent("*a".repeat(240))}`,
    );
    expect(stars.status).toBe(404);
  });
});

describe("a file's name (S29)", () => {
  it.each([
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\win.ini",
    "C:\\boot.ini",
    "a\u0000.txt",
    "x".repeat(300),
    ".",
    "..",
    "\u202egnp.exe",
    'a"; filename="b.html',
    "con",
    "a%00b",
    "....//x",
    "name\tb",
  ])("%j is a name and never a place", async (name) => {
    // Sent by hand, because a browser's form would tidy it up.
    const body = `--b\r\ncontent-disposition: form-data; name="file"; filename="${name.replaceAll('"', "%22")}"\r\ncontent-type: text/plain\r\n\r\nhello\r\n--b--\r\n`;
    const head = {
      authorization: `Bearer ${user.token}`,
      "content-type": "multipart/form-data; boundary=b",
      "content-length": String(Buffer.byteLength(body)),
      connection: "close",
    };
    const raw = await sendRaw(
      app.url,
      Buffer.from(toRequest("POST /api/v1/files/?process=false HTTP/1.1", head, body)),
    );
    expect(raw.text).not.toMatch(/\/tmp|uploads\/|data-/);
    if (raw.status === 400) {
      return;
    }
    expect(raw.status).toBe(200);
    const record = JSON.parse(
      Buffer.from(raw.text.slice(raw.text.indexOf("\r\n\r\n") + 4), "latin1").toString(),
    );
    expect(record.filename).not.toMatch(/[/\\\p{Cc}\u202e]|^\.{1,2}$/u);
    expect(record.filename.length).toBeLessThanOrEqual(255);
    // The key of the stored bytes, which the server makes: no place of its disk.
    expect(record.path).toMatch(/^files\/\d+\/\d+-[0-9a-f-]{36}$/);
    const served = await user.call(`GET /api/v1/files/${record.id}/content`);
    expect([served.status, served.text]).toEqual([200, "hello"]);
    expect(served.headers.get("content-disposition")).toMatch(
      /^inline; filename="[^"]*"(; filename\*=UTF-8''[\w%.~-]*)?$/,
    );
  });
});

describe("what a file holds (S83)", () => {
  const attack = "<script xmlns='http://www.w3.org/1999/xhtml'>fetch('/api/v1/auths')</script>";
  const show = async (name: string, type: string, suffix: string): Promise<Answer> => {
    const { body } = await upload(app, [name, attack], { token: user.token, type, query: "?process=false" });
    return user.call(`GET /api/v1/files/${body.id}/content${suffix}`);
  };

  it.each([
    ["a.html", "text/html"],
    ["a.svg", "image/svg+xml"],
    ["a.xhtml", "application/xhtml+xml"],
    ["a.xml", "text/xml"],
    ["a.xsl", "text/xsl"],
    ["a.js", "text/javascript"],
    ["a.mht", "multipart/related"],
    ["a.swf", "application/x-shockwave-flash"],
    ["a.pdf", "application/pdf"],
    ["a.txt", "text/plain"],
    ["a.png", "image/png"],
    ["a.bin", "text/html\r\nx-injected: 1"],
    ["a.x", "TEXT/HTML; charset=utf-7"],
  ])("%s as %s runs nothing", async (name, type) => {
    for (const suffix of ["", "?attachment=true", "/html", "/page.html"]) {
      const { headers, status } = await show(name, type, suffix);
      const policy = headers.get("content-security-policy") ?? "";
      expect([status, headers.get("x-content-type-options"), headers.get("x-injected")]).toEqual([
        200,
        "nosniff",
        null,
      ]);
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/allow-scripts|allow-same-origin|script-src|unsafe-eval/);
      expect(headers.get("content-type")).not.toMatch(/utf-7/i);
      const isHarmless = /^(text\/plain|image\/png|application\/pdf)/.test(headers.get("content-type") ?? "");
      if (suffix === "" && !isHarmless) {
        expect(headers.get("content-disposition")).toMatch(/^attachment/);
      }
      // Files shown inline have an opaque origin; a PDF viewer is no part of the page.
      expect([
        suffix,
        policy.includes("sandbox") || headers.get("content-type") === "application/pdf",
      ]).toEqual([suffix, true]);
    }
  });

  it("needs the reader's credential each time, and stays in no shared cache", async () => {
    const { headers } = await show("a.txt", "text/plain", "");
    expect([headers.get("cache-control"), headers.get("cross-origin-resource-policy")]).toEqual([
      "private, no-cache",
      "same-origin",
    ]);
    expect((await app.call(`GET /api/v1/files/${secret.id}/content`)).status).toBe(401);
  });
});

describe("an upload that is too much (S33, S35)", () => {
  const stored = async () => (await user.call("GET /api/v1/files/count")).body.count as number;

  it("is refused at the limit, whatever length it announces, and leaves nothing", async () => {
    const before = await stored();
    expect((await upload(app, ["big.bin", "x".repeat(1_100_000)], { token: user.token })).status).toBe(413);
    const head = {
      authorization: `Bearer ${user.token}`,
      "content-type": "multipart/form-data; boundary=b",
      "content-length": "10000000000",
      connection: "close",
    };
    const huge = await sendRaw(
      app.url,
      toRequest(
        "POST /api/v1/files/ HTTP/1.1",
        head,
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nx',
      ),
    );
    expect(huge.status).toBe(413);
    expect(await stored()).toBe(before);
  });

  it("as a JSON body is refused before it is read", async () => {
    const head = {
      authorization: `Bearer ${user.token}`,
      "content-type": "application/json",
      "content-length": "10000000000",
    };
    const answer = await sendRaw(app.url, toRequest("POST /api/chat/completions HTTP/1.1", head, "{"));
    expect(answer.status).toBe(413);
  });

  it("as a picture of 50,000 by 50,000 is bytes like any other: the server decodes none", async () => {
    const head = Buffer.from("89504e470d0a1a0a0000000d494844520000c3500000c3500806000000", "hex").toString(
      "latin1",
    );
    const started = performance.now();
    const { body, status } = await upload(app, ["huge.png", head], {
      token: user.token,
      type: "image/png",
      query: "?process_in_background=false",
    });
    expect([status, body.data.status]).toEqual([200, "completed"]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
