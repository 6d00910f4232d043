import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { addFunction, removeFunction } from "#plugins/functions/functions.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type ChatRuns, startChatRuns } from "./after-run.fixture.ts";
import { said } from "./chat-tasks.fixture.ts";

let runs: ChatRuns;
const added: string[] = [];

beforeAll(async () => void (runs = await startChatRuns()));
afterAll(() => runs.close());
afterEach(async () => {
  for (const id of added.splice(0)) {
    await removeFunction(runs.tasks.app, id);
  }
});

/** A filter that hides the moon from models and puts it back; inlet tells outlet how often. */
const hiding = (meta: object) => `
  export const meta = ${JSON.stringify(meta)};
  export function inlet(body, ctx) {
    const text = JSON.stringify(body.messages);
    const messages = JSON.parse(text.replaceAll("moon", "M" + "@".repeat(3)));
    return { ...body, messages, metadata: { task: ctx.task, was: text.includes("moon") } };
  }
  export function outlet(body, ctx) {
    const last = body.messages.at(-1);
    last.content = last.content.replaceAll("M@@@", ctx.metadata.was && ctx.task === ctx.metadata.task ? "moon" : "?");
    return body;
  }`;

async function add(id: string, content: string, options: Parameters<typeof addFunction>[3]): Promise<void> {
  added.push(id);
  await addFunction(runs.tasks.app, id, content, options);
}

/** Asks for a title that names what was hidden. */
async function title(body: object = {}) {
  runs.answers["title_generation"] = text('{"title": "The M@@@"}');
  const before = runs.tasks.upstream.requests.length;
  const answer = await runs.tasks.run("title", body);
  const asked = runs.tasks.upstream.requests.slice(before).map(({ body: sent }) => JSON.stringify(sent));
  return {
    status: answer.status,
    detail: answer.body.detail,
    title: answer.status === 200 && said(answer),
    asked,
  };
}

describe("filters and background tasks", () => {
  it("one that looks at tasks sees what is asked and changes what is answered", async () => {
    await add("hide", hiding({ tasks: true }), { global: true });
    const { asked, title: found } = await title();
    expect(asked).toEqual([expect.stringContaining("Where is the M@@@?")]);
    expect(asked[0]).not.toContain("moon");
    expect(found).toBe('{"title":"The moon"}');
  });

  it("any other sees none", async () => {
    await add("hide", hiding({}), { global: true });
    const { asked, title: found } = await title();
    expect(asked).toEqual([expect.stringContaining("Where is the moon?")]);
    expect(found).toBe('{"title":"The M@@@"}');
  });

  it("one that people switch on needs to be named", async () => {
    await add("hide", hiding({ tasks: true, toggle: true }), { global: true });
    expect((await title()).asked[0]).toContain("Where is the moon?");
    expect((await title({ filter_ids: ["hide"] })).asked[0]).toContain("Where is the M@@@?");
  });

  it("those of the chat's model hold, though another model is asked", async () => {
    const { token } = runs.tasks.admin;
    const record = {
      id: "over",
      name: "Over",
      base_model_id: "alpha",
      params: {},
      meta: { filterIds: ["hide"] },
    };
    await add("hide", hiding({ tasks: true }), {});
    const made = await runs.tasks.app.call("POST /api/v1/models/create", { token, body: record });
    expect(made.status).toBe(200);
    const { asked } = await title({ model: "over" });
    expect(JSON.parse(asked[0]!).model).toBe("worker");
    expect(asked[0]).toContain("Where is the M@@@?");
    expect((await title()).asked[0]).toContain("Where is the moon?");
  });

  it("an inlet that refuses ends the task in its own words, and nothing is asked", async () => {
    const refusing = `export const meta = { tasks: true };
      export function inlet(body, ctx) { throw new Error("No " + ctx.task + " today."); }`;
    await add("refuse", refusing, { global: true });
    const { status, detail, asked } = await title();
    expect([status, detail, asked]).toEqual([400, "No title_generation today.", []]);
  });

  it("a chat's title is found with the filters of its run", async () => {
    await add("hide", hiding({ tasks: true, toggle: true }), { global: true });
    runs.answers["title_generation"] = text('{"title": "The M@@@"}');
    const before = runs.tasks.upstream.requests.length;
    const background = { title_generation: true };
    const { title: found } = await runs.run(await runs.makeChat(), background, { filter_ids: ["hide"] });
    expect(found).toBe("The moon");
    const sent = runs.tasks.upstream.requests.slice(before).map(({ body }) => JSON.stringify(body));
    expect(sent).toHaveLength(2);
    expect(sent.filter((each) => each.includes("moon"))).toEqual([]);
  });
});
