import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { App, TestUser } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";
import { type Runtime, startRuntime } from "#test/support/runtime.ts";
import { failure } from "#test/support/upstream-scripts.ts";

let one: Runtime;
let two: Runtime;
let app: App;
let admin: TestUser;
let member: TestUser;

beforeAll(async () => {
  one = await startRuntime(["shared:1b", "first:1b"]);
  two = await startRuntime(["shared:1b", "second:latest"]);
  one.models = ["common"];
  app = await useApp({ env: { OPENAI_API_BASE_URLS: one.url } });
  admin = await app.admin();
  member = await app.user();
});
afterAll(async () => {
  await app.close();
  await Promise.all([one.close(), two.close()]);
});
beforeEach(() => configure({}));

const configure = (more: object, isOn = true) =>
  admin.call("POST /runtime/config/update", {
    ENABLE_OLLAMA_API: isOn,
    OLLAMA_BASE_URLS: [one.origin, two.origin],
    OLLAMA_API_CONFIGS: { 0: { access: "everyone" }, 1: { access: "everyone", ...more } },
  });
const ask = (model: string, path = "", body: object = {}) =>
  member.call(`POST /runtime/v1/responses${path}`, { model, input: "Hi", ...body });
const asked = (runtime: Runtime) => runtime.requests.filter(({ path }) => path === "/api/chat").length;

describe("the Responses format of one backend", () => {
  it.each([0, 1])("is answered by backend %s every time", async (index) => {
    const before = [asked(one), asked(two)];
    for (const stream of [true, false, true, false, true, false]) {
      const answer = await ask("shared:1b", `/${index}`, { stream });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain("there");
    }
    const after = [asked(one), asked(two)].map((count, at) => count - (before[at] as number));
    expect(after).toEqual(index === 0 ? [6, 0] : [0, 6]);
  });

  it("streams with its events, under the model's public id", async () => {
    await configure({ prefix_id: "box" });
    const { text, headers } = await ask("box.shared:1b", "/1", { stream: true });
    expect(headers.get("content-type")).toContain("event-stream");
    const events = text
      .trim()
      .split("\n\n")
      .map((frame) => JSON.parse(frame.split("\n")[1]!.slice(6)));
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at));
    expect(events.at(-1)).toMatchObject({
      type: "response.completed",
      response: {
        model: "box.shared:1b",
        output: [{ content: [{ text: "Hello there" }] }],
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      },
    });
    expect(two.last("/api/chat").body.model).toBe("shared:1b");
  });

  it("means the latest where the name has no tag", async () => {
    for (const path of ["/1", ""]) {
      const before = asked(two);
      expect((await ask("second", path)).body).toMatchObject({ object: "response", status: "completed" });
      expect([asked(two) - before, two.last("/api/chat").body.model]).toEqual([1, "second:latest"]);
    }
    expect((await ask("unknown")).status).toBe(404);
  });

  it("does not pass over to another one", async () => {
    one.reply("/api/chat", failure(503, "Busy"));
    const before = asked(two);
    expect((await ask("shared:1b", "/0")).status).toBe(503);
    expect(asked(two)).toBe(before);
  });

  it.each([
    ["first:1b", "/1"],
    ["shared:1b", "/7"],
    ["common", "/0"],
    ["guide", "/0"],
    ["nothing", "/0"],
  ])("is not there for %s at %s", async (model, path) => {
    const { status, body } = await ask(model, path);
    expect([status, body.error.message]).toEqual([404, "Model not found"]);
  });

  it.each(["-1", "x", "1.5"])("has no backend %s", async (index) => {
    const { status, body } = await ask("shared:1b", `/${index}`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining("idx")]);
  });

  it("is not there for those who may not use the model", async () => {
    await configure({ access: "admins" });
    for (const path of ["", "/0", "/1"]) {
      expect((await ask("second:latest", path)).status).toBe(404);
    }
  });
});

it.each(["", "/0"])("is off with the runtime: /runtime/v1/responses%s", async (path) => {
  await configure({}, false);
  for (const model of ["shared:1b", "guide"]) {
    const { status, body } = await ask(model, path);
    expect([status, typeof body.error.message]).toEqual([503, "string"]);
  }
});
