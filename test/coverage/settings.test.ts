import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type App, startApp } from "#test/support/app.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { json, text } from "#test/support/upstream-scripts.ts";

// Configuration document: what variables change that no other suite sets.

const suggestion = { title: ["One", "two"], content: "three" };
const banner = { id: "b", type: "info", title: "", content: "Hello", dismissible: true, timestamp: 1 };
const picture =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let upstream: Upstream;
/** An app of the defaults, and one whose operator set the variables. */
let plain: App;
let changed: App;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.models = ["alpha"];
  upstream.always("/chat/completions", text("One two three four"));
  upstream.always("/moved/models", async (exchange) => {
    await exchange.start(302, { location: `${upstream.url}/models`, "content-length": "0" });
  });
  const env = { OPENAI_API_BASE_URLS: upstream.url, OPENAI_API_KEYS: "key" };
  plain = await startApp({ env });
  changed = await startApp({
    env: {
      ...env,
      AIOHTTP_CLIENT_ALLOW_REDIRECTS: "true",
      // More than a timer can wait.
      AIOHTTP_CLIENT_STREAM_IDLE_TIMEOUT: "9999999",
      AIOHTTP_CLIENT_TIMEOUT: "9999999",
      AIOHTTP_CLIENT_TIMEOUT_OPENAI_MODEL_LIST: "1",
      CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE: "100",
      DEFAULT_GROUP_SHARE_PERMISSION: "true",
      DEFAULT_PROMPT_SUGGESTIONS: JSON.stringify([suggestion]),
      ENABLE_COMPRESSION_MIDDLEWARE: "false",
      ENABLE_EASTER_EGGS: "false",
      ENABLE_IMAGE_CONTENT_TYPE_EXTENSION_FALLBACK: "true",
      ENABLE_ORJSON: "false",
      ENABLE_PASSWORD_CHANGE_FORM: "false",
      EXTERNAL_PWA_MANIFEST_URL: "manifest.json",
      PENDING_USER_OVERLAY_CONTENT: "Wait for Ana.",
      PENDING_USER_OVERLAY_TITLE: "Almost there",
      PROFILE_IMAGE_ALLOWED_MIME_TYPES: "image/gif",
      USE_SLIM_DOCKER: "true",
      WEBUI_BANNERS: JSON.stringify([banner]),
    },
  });

  for (const app of [plain, changed]) {
    await app.call("GET /api/models?refresh=true", { token: (await app.admin()).token });
  }
});

afterAll(async () => {
  await plain?.close();
  await changed?.close();
  await upstream?.close();
});

/** The same call of both apps, by their administrators. */
const both = async (route: string, body?: unknown, headers: Record<string, string> = {}) =>
  await Promise.all(
    [plain, changed].map(async (app) => app.call(route, { token: (await app.admin()).token, body, headers })),
  );

describe("what people are shown", () => {
  it("follows the switches of the interface", async () => {
    const [before, after] = (await both("GET /api/config")).map(({ body }) => body);
    const names = ["enable_easter_eggs", "enable_password_change_form", "slim"];
    expect(names.map((name) => before.features[name])).toEqual([true, true, false]);
    expect(names.map((name) => after.features[name])).toEqual([false, false, true]);
    expect(before.default_prompt_suggestions.length).toBeGreaterThan(1);
    expect(after.default_prompt_suggestions).toEqual([suggestion]);
  });

  it("has the operator's words for pending accounts, and banners", async () => {
    const pending = await changed.user("pending");
    expect((await pending.call("GET /api/config")).body.ui).toEqual({
      pending_user_overlay_title: "Almost there",
      pending_user_overlay_content: "Wait for Ana.",
    });
    const banners = await both("GET /api/v1/configs/banners");
    expect(banners.map((answer) => answer.body)).toEqual([[], [banner]]);
  });
});

it("everybody may share with a new group where DEFAULT_GROUP_SHARE_PERMISSION is true", async () => {
  const made = await both("POST /api/v1/groups/create", { name: "Crew", description: "" });
  expect(made.map(({ body }) => body.data.config.share)).toEqual(["members", true]);
});

it("profile images are of the types of PROFILE_IMAGE_ALLOWED_MIME_TYPES", async () => {
  const body = { name: "Ana", profile_image_url: `data:image/png;base64,${picture}` };
  const answers = await both("POST /api/v1/auths/update/profile", body);
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
});

it("answers are compressed unless ENABLE_COMPRESSION_MIDDLEWARE is off, and say the same", async () => {
  const answers = await both("GET /openapi.json", undefined, { "accept-encoding": "gzip" });
  expect(answers.map(({ headers }) => headers.get("content-encoding"))).toEqual(["gzip", null]);
  // ENABLE_ORJSON is off in one of them.
  expect(answers[0]?.body).toEqual(answers[1]?.body);
});

it("streams come in pieces of CHAT_RESPONSE_STREAM_DELTA_CHUNK_SIZE", async () => {
  const messages = [{ role: "user", content: "Hi" }];
  const answers = await both("POST /api/chat/completions", { model: "alpha", messages, stream: true });
  const pieces = answers.map(({ text: frames }) => frames.match(/"content":"[^"]+"/g)?.length ?? 0);
  expect(pieces[0]).toBeGreaterThan(1);
  expect(pieces[1]).toBe(1);
});

it("a limit of time that is longer than a timer can wait ends no call", async () => {
  const messages = [{ role: "user", content: "Hi" }];
  const answers = await both("POST /api/chat/completions", { model: "alpha", messages });
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
});

describe("a setting that cannot be honoured", () => {
  it.each([
    ["DEFAULT_GROUP_ID", "no-group"],
    ["DEFAULT_LOCALE", "de_DE"],
    ["DEFAULT_LOCALE", "nonsense"],
    ["WEBHOOK_URL", "hooks.example"],
    ["WEBUI_URL", "chat.example"],
  ])("%s of %j is refused, with what comes beside it", async (name, value) => {
    const admin = await plain.admin();
    const body = { [name]: value, ENABLE_FOLDERS: false };
    const refused = await admin.call("POST /api/v1/configs/settings", body);
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ["body", name]]);
    const { body: settings } = await admin.call("GET /api/v1/configs/settings");
    const find = (wanted: string) => settings.find((each: { name: string }) => each.name === wanted);
    expect([find(name).source, find("ENABLE_FOLDERS").value]).toEqual(["default", true]);
  });

  it("is taken where it can be: a group that there is", async () => {
    const admin = await plain.admin();
    const group = await admin.call("POST /api/v1/groups/create", { name: "New people", description: "" });
    const set = async (id: string) =>
      await admin.call("POST /api/v1/auths/admin/config", { DEFAULT_GROUP_ID: id });
    expect((await set(group.body.id)).body.DEFAULT_GROUP_ID).toBe(group.body.id);
    expect((await set("no-group")).status).toBe(422);
    const person = await plain.user();
    const groups = await person.call("GET /api/v1/groups/");
    expect(groups.body.map(({ name }: { name: string }) => name)).toEqual(["New people"]);
    expect((await set("")).body.DEFAULT_GROUP_ID).toBe("");
  });

  it("leaves the manifest as it is where EXTERNAL_PWA_MANIFEST_URL is no full address", async () => {
    const names = (await both("GET /manifest.json")).map(({ body }) => body.name);
    expect(names[1]).toBe(names[0]);
  });
});

it("upstreams are followed elsewhere where AIOHTTP_CLIENT_ALLOW_REDIRECTS is on", async () => {
  const answers = await both("POST /compat/verify", { url: `${upstream.origin}/moved`, key: "key" });
  expect(answers.map(({ status }) => status === 200)).toEqual([false, true]);
});

it("a silent model list is given up after AIOHTTP_CLIENT_TIMEOUT_OPENAI_MODEL_LIST seconds", async () => {
  const before = upstream.requests.length;
  upstream.reply("/models", (exchange) => exchange.hold());
  const admin = await changed.admin();
  await admin.call("GET /api/models?refresh=true");
  const held = upstream.requests.slice(before).find(({ path }) => path.endsWith("/models"));
  expect(Number(await held?.aborted) - Number(held?.receivedAt)).toBeLessThan(5000);
});

it("a file's extension tells the type of a picture where the fallback is on", async () => {
  const seen: unknown[] = [];
  upstream.always("/chat/completions", async (exchange) => {
    seen.push(exchange.request.body.messages.at(-1).content);
    await json({ choices: [{ index: 0, message: { role: "assistant", content: "ok" } }] })(exchange);
  });
  for (const app of [plain, changed]) {
    const admin = await app.admin();
    const form = new FormData();
    form.set("file", new File([Buffer.from(picture, "base64")], "dot.png", { type: "application/x-dot" }));
    const { body } = await admin.call("POST /api/v1/files/?process=false", form);
    const part = { type: "image_url", image_url: { url: `/api/v1/files/${body.id}/content` } };
    const messages = [{ role: "user", content: [{ type: "text", text: "What?" }, part] }];
    await admin.call("POST /api/chat/completions", { model: "alpha", messages });
  }
  const inlined = seen.map((content) => JSON.stringify(content).includes("data:image/png;base64,"));
  expect(inlined).toEqual([false, true]);
});
