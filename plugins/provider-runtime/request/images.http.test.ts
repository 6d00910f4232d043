import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { body } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";

let runtime: Runtime;
let pictures: Upstream;
let app: App;
let member: TestUser;
let before: number;

beforeAll(async () => {
  [runtime, pictures] = [await startRuntime(), await startUpstream()];
  app = await startApp({
    env: {
      OLLAMA_BASE_URLS: runtime.origin,
      OLLAMA_API_CONFIGS: '{"0":{"access":"everyone"}}',
      EGRESS_ALLOWED_PRIVATE_ORIGINS: pictures.origin,
    },
  });
  member = await app.user();
});
afterAll(async () => {
  await app.close();
  await Promise.all([runtime.close(), pictures.close()]);
});
beforeEach(() => {
  before = pictures.requests.length;
});

const picture = (bytes: number) => body(Buffer.alloc(bytes), { headers: { "content-type": "image/png" } });
const fetched = () => pictures.requests.slice(before).map(({ path }) => path);
const image = (url: string) => ({ type: "image_url", image_url: { url } });
const at = (path: string) => image(`${pictures.origin}${path}`);
const ask = (...content: unknown[]) =>
  member.call("POST /api/chat/completions", {
    model: "llama3:latest",
    messages: [{ role: "user", content }],
  });

describe("images at addresses", () => {
  it.each<[string, unknown]>([
    ["neither data nor an address", image("x")],
    ["data that is no image", image("data:text/html;base64,AQID")],
    ["of no kind that the runtime takes", { type: "input_audio", input_audio: {} }],
  ])("are not asked for beside a part %s", async (_name, part) => {
    const { status, text } = await ask(at("/none.png"), part);
    expect([status, text]).toEqual([400, expect.stringContaining("messages.0.content.1")]);
    expect(fetched()).toEqual([]);
  });

  it("are fetched once each, a few at a time", async () => {
    const open = { now: 0, most: 0 };
    pictures.always(
      ({ path }) => /^\/\d/.test(path),
      async (exchange) => {
        open.most = Math.max(open.most, ++open.now);
        await new Promise(setImmediate);
        open.now -= 1;
        await picture(3)(exchange);
      },
    );
    const parts = Array.from({ length: 20 }, (_, index) => at(`/${index}.png`));
    expect(await ask(...parts, at("/0.png"))).toMatchObject({ status: 200 });
    expect(fetched()).toHaveLength(20);
    expect(open.most).toBeLessThanOrEqual(4);
    expect(runtime.last("/api/chat").body.messages).toEqual([
      { role: "user", content: "", images: Array.from({ length: 21 }, () => "AAAA") },
    ]);
  });

  it("are refused where there are too many", async () => {
    const { status, text } = await ask(...Array.from({ length: 21 }, (_, index) => at(`/${index}.png`)));
    expect([status, text]).toEqual([400, expect.stringContaining("messages.0.content.20.image_url: more")]);
    expect(fetched()).toEqual([]);
  });

  it("are refused where they are too large together, each as often as it is named", async () => {
    pictures.always("/small.png", picture(3));
    pictures.always("/large.png", picture(15 * 1024 * 1024));
    expect(await ask(at("/small.png"), ...Array.from({ length: 5 }, () => at("/large.png")))).toMatchObject({
      status: 400,
      text: expect.stringContaining("messages.0.content.1.image_url: the im"),
    });
    expect(fetched()).toEqual(["/small.png", "/large.png"]);
  });
});
