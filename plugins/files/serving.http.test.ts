import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type Sent, upload } from "./client.fixture.ts";

let app: App;
let owner: TestUser;

beforeAll(async () => {
  app = await useApp();
  owner = await app.user();
});

afterAll(() => app.close());

const send = (name: string, content: string, sent: Partial<Sent> = {}) =>
  upload(app, [name, content], { token: owner.token, ...sent });
const get = (path: string, token = owner.token, headers: Record<string, string> = {}) =>
  app.call(`GET /api/v1/files/${path}`, { token, headers });

describe("the bytes", () => {
  const content = "0123456789";
  let id: string;
  beforeAll(async () => {
    id = (await send('grü"ße.txt', content)).body.id;
  });

  it("are shown in a sandbox under the file's name", async () => {
    const { headers, text } = await get(`${id}/content`);
    expect(text).toBe(content);
    expect(headers.get("content-disposition")).toBe(
      `inline; filename="gr___e.txt"; filename*=UTF-8''gr%C3%BC%22%C3%9Fe.txt`,
    );
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(/^sandbox;/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("private, no-cache");
  });

  it.each(["content?attachment=true", "content/any-name.txt"])("are saved through %s", async (path) => {
    const { headers, text } = await get(`${id}/${path}`);
    expect(text).toBe(content);
    expect(headers.get("content-disposition")).toMatch(/^attachment;/);
  });

  it.each([
    ["text/html", "attachment"],
    ["image/svg+xml", "attachment"],
    ["application/xml", "attachment"],
    ["image/png", "inline"],
    ["application/pdf", "inline"],
    ["video/mp4", "inline"],
  ])("of type %s are handed out as %s", async (type, kind) => {
    const { body } = await send("a", "<script>1</script>", { type });
    expect((await get(`${body.id}/content`)).headers.get("content-disposition")).toMatch(
      new RegExp(`^${kind};`),
    );
  });

  it("of a page are shown without scripts, cookies and origin", async () => {
    const { body } = await send("a.html", "<script>1</script>", { type: "text/html" });
    const { headers } = await get(`${body.id}/content/html`);
    expect(headers.get("content-disposition")).toMatch(/^inline;/);
    expect(headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    expect(headers.get("content-security-policy")).not.toMatch(/allow-scripts|allow-same-origin/);
  });

  it("come in ranges", async () => {
    const part = await get(`${id}/content`, owner.token, { range: "bytes=2-4" });
    expect([part.status, part.text, part.headers.get("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
    const none = await get(`${id}/content`, owner.token, { range: "bytes=10-" });
    expect([none.status, none.headers.get("content-range")]).toEqual([416, "bytes */10"]);
    expect(none.body).toHaveProperty("detail");
    const changed = await get(`${id}/content`, owner.token, { range: "bytes=2-4", "if-range": '"other"' });
    expect([changed.status, changed.text]).toEqual([200, content]);
  });

  it("are not sent again to who has them", async () => {
    const etag = (await get(`${id}/content`)).headers.get("etag") ?? "";
    const again = await get(`${id}/content`, owner.token, { "if-none-match": etag });
    expect([again.status, again.text]).toEqual([304, ""]);
  });
});
