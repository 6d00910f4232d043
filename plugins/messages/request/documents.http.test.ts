import { afterAll, beforeAll, expect, it } from "vitest";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { body, failure, json } from "#test/support/upstream-scripts.ts";
import { startUpstream, type Upstream } from "#test/support/upstream.ts";
import { fromTool, fromUser, textPart } from "#test/support/wire-parts.ts";
import { completion } from "../answers.fixture.ts";

let upstream: Upstream;
let site: Upstream;
let app: App;
let admin: TestUser;

beforeAll(async () => {
  [upstream, site] = await Promise.all([startUpstream(), startUpstream()]);
  upstream.models = ["alpha"];
  app = await startApp({
    env: { OPENAI_API_BASE_URLS: upstream.url, EGRESS_ALLOWED_PRIVATE_ORIGINS: site.origin },
  });
  admin = await app.admin();
});
afterAll(async () => {
  await app.close();
  await Promise.all([upstream, site].map((each) => each.close()));
});

const named = (url: string, more: object = {}) => ({
  type: "document",
  source: { type: "url", url },
  ...more,
});
const ask = (...content: object[]) =>
  admin.call("POST /api/message", { model: "alpha", max_tokens: 9, messages: [fromUser(content)] });
const pdf = body("%PDF-1.7 ...", { headers: { "content-type": "application/pdf" } });
const data = `data:application/pdf;base64,${Buffer.from("%PDF-1.7 ...").toString("base64")}`;
const result = (content: object[]) => ({ type: "tool_result", tool_use_id: "a", content });

it("documents are read from their addresses, once each, in messages and results", async () => {
  site.reply("/plan.pdf", pdf);
  upstream.reply("/chat/completions", json(completion({ content: "Hi" })));
  const url = `${site.origin}/plan.pdf`;
  const answer = await ask(result([named(url)]), textPart("And?"), named(url, { title: "Plan" }));
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining("Hi")]);
  expect(site.requests.filter(({ path }) => path === "/plan.pdf")).toHaveLength(1);
  expect(upstream.requests.at(-1)?.body.messages).toEqual([
    fromTool("a", ""),
    fromUser([
      { type: "file", file: { filename: "document.pdf", file_data: data } },
      textPart("And?"),
      { type: "file", file: { filename: "Plan", file_data: data } },
    ]),
  ]);
});

it.each<[string, () => object[], string]>([
  [
    "a page",
    () => (site.reply("/x", body("<html>")), [named(`${site.origin}/x`)]),
    "0.source.url: the document",
  ],
  ["nothing", () => (site.reply("/x", failure(404, "x")), [named(`${site.origin}/x`)]), "answers 404"],
  ["an address inside the house", () => [named(`${upstream.origin}/v1/models`)], "0.source.url"],
  ["no address", () => [textPart("a"), named("file:///etc/passwd")], "1.source.url: must be an http"],
  [
    "too many",
    () => Array.from({ length: 21 }, (_, at) => named(`${upstream.origin}/${at}`)),
    "20.source.url",
  ],
  [
    "one that is named too often",
    () => {
      site.reply("/large.pdf", body("%PDF-".padEnd(8 * 1024 * 1024)));
      return Array.from({ length: 6 }, () => named(`${site.origin}/large.pdf`));
    },
    "5.source.url: the documents are more than",
  ],
])("%s is refused by its place", async (_what, toContent, place) => {
  const before = upstream.requests.length;
  const answer = await ask(...toContent());
  expect([answer.status, answer.body.error]).toEqual([
    400,
    { type: "invalid_request_error", message: expect.stringContaining(place) },
  ]);
  expect(upstream.requests.length).toBe(before);
});

it.each<[string, unknown]>([
  ["a block that is none", null],
  ["an unknown block", { type: "hologram" }],
])("nothing is read for a request with %s", async (_what, block) => {
  const before = site.requests.length;
  const answer = await ask(named(`${site.origin}/plan.pdf`), block as object);
  expect([answer.status, answer.body.error]).toEqual([
    400,
    { type: "invalid_request_error", message: expect.stringContaining("messages.0.content.1") },
  ]);
  expect(site.requests.length).toBe(before);
});
