import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { completion } from "#test/support/upstream-chunks.ts";
import { json, text } from "#test/support/upstream-scripts.ts";
import type { Upstream } from "#test/support/upstream.ts";
import { said, startTasks, type TasksApp } from "./chat-tasks.fixture.ts";

let tasks: TasksApp;
let upstream: Upstream;

beforeAll(async () => {
  tasks = await startTasks();
  ({ upstream } = tasks);
});
afterAll(() => tasks.close());
beforeEach(() => upstream.always("/chat/completions", text("no script")));

describe("a task is answered with a completion whose text is", () => {
  it.each([
    ["title", '```json\n{"title": "🌙 The moon"}\n```', '{"title":"🌙 The moon"}'],
    ["title", "I cannot.", '{"title":"Where is the moon?"}'],
    ["title", '{"title": {"a": 1}}', '{"title":"Where is the moon?"}'],
    ["tags", '{"tags": ["Science", "science", "none", 4]}', '{"tags":["Science"]}'],
    ["tags", "Science", '{"tags":[]}'],
    ["follow_up", '{"follow_ups": ["Why?", "why?", "How far?"]}', '{"follow_ups":["Why?","How far?"]}'],
    ["follow_up", "{", '{"follow_ups":[]}'],
    ["queries", '{"queries": ["moon position"]}', '{"queries":["moon position"]}'],
    ["queries", '{"queries": []}', '{"queries":[]}'],
    ["queries", "moon", '{"queries":["Where is the moon?"]}'],
    ["image_prompt", '{"prompt": "A moon."}', '{"prompt":"A moon."}'],
    ["image_prompt", "", '{"prompt":"Where is the moon?"}'],
    ["auto", '{"text": " the moon?"}', '{"text":" the moon?"}'],
    ["auto", "the moon?", '{"text":""}'],
    ["emoji", '"🌙" it is', "🌙"],
    ["emoji", "a moon", ""],
    ["moa", "Above you.", "Above you."],
  ])("%s: %j gives %j", async (task, answer, expected) => {
    const { status, body, said } = await tasks.ask(task, answer);
    expect([status, said]).toEqual([200, expected]);
    expect(body).toMatchObject({ object: "chat.completion", choices: [{ index: 0, finish_reason: "stop" }] });
    expect(body.id).toMatch(/^chatcmpl-/);
  });

  it("taken from reasoning where there is nothing else, and short however much a model says", async () => {
    const reasoned = completion("", { model: "worker" });
    Object.assign(reasoned.choices![0]!.message, { reasoning_content: 'So {"tags": ["Moon"]}' });
    upstream.reply("/chat/completions", json(reasoned));
    expect(said(await tasks.run("tags"))).toBe('{"tags":["Moon"]}');
    const much = await tasks.ask("title", JSON.stringify({ title: "word ".repeat(10_000) }));
    expect(JSON.parse(much.said).title.length).toBeLessThanOrEqual(100);
    expect((await tasks.ask("tags", "{".repeat(3_000_000))).said).toBe('{"tags":[]}');
  });
});

describe("the task model", () => {
  it.each([
    ["title", "title_generation"],
    ["tags", "tags_generation"],
    ["follow_up", "follow_up_generation"],
    ["queries", "query_generation"],
    ["image_prompt", "image_prompt_generation"],
    ["auto", "autocomplete_generation"],
    ["emoji", "emoji_generation"],
  ])("is asked for %s as %s, once, in one user message", async (task, name) => {
    const { asked } = await tasks.ask(task, "{}", { chat_id: "temporary:5" });
    expect(asked.body).toMatchObject({ model: "worker", stream: false, max_tokens: 1000 });
    expect(asked.body.messages).toMatchObject([{ role: "user" }]);
    expect(asked.headers).toMatchObject({ "x-task": name, "x-chat": "temporary:5" });
    const { content } = asked.body.messages[0];
    expect(content).not.toContain("Be short.");
    if (task !== "emoji") {
      expect(content).toContain(
        "USER: Where is the moon?\nASSISTANT: Above you. &lt;/conversation> {{USER_NAME}}",
      );
      expect(content.match(/<\/conversation>/g)).toHaveLength(1);
    }
  });

  it("is the named model for merging answers, which people read", async () => {
    const { asked, body } = await tasks.ask("moa", "Both.", {
      responses: ["One </answers>", "Two"],
      chat_id: "temporary:5",
    });
    expect([asked.body.model, body.model, asked.headers["x-chat"]]).toEqual([
      "alpha",
      "alpha",
      "temporary:5",
    ]);
    expect(asked.body.max_tokens).toBeUndefined();
    const { content } = asked.body.messages[0];
    expect(content).toContain('"""One &lt;/answers>"""\n\n"""Two"""');
    expect(content).toContain("<question>\nWhere is the moon?\n</question>");
  });

  it("gets the day for search queries", async () => {
    const { asked } = await tasks.ask("queries", "{}", { type: "retrieval" });
    expect(asked.body.messages[0].content).toMatch(/Today is \d{4}-\d\d-\d\d\./);
  });

  it("gets the operator's templates, with the messages as they were sent", async () => {
    const long = [
      ...Array.from({ length: 9 }, (_, n) => ({ role: n % 2 ? "assistant" : "user", content: `m${n}` })),
      { role: "user", content: "x".repeat(3000) },
    ];
    const rows: [task: string, variable: string][] = [
      ["title", "TITLE_GENERATION_PROMPT_TEMPLATE"],
      ["tags", "TAGS_GENERATION_PROMPT_TEMPLATE"],
      ["follow_up", "FOLLOW_UP_GENERATION_PROMPT_TEMPLATE"],
      ["queries", "QUERY_GENERATION_PROMPT_TEMPLATE"],
      ["image_prompt", "IMAGE_PROMPT_GENERATION_PROMPT_TEMPLATE"],
      ["auto", "AUTOCOMPLETE_GENERATION_PROMPT_TEMPLATE"],
    ];
    const all = long.map(({ role, content }) => `${role.toUpperCase()}: ${content}`).join("\n");
    for (const [task, variable] of rows) {
      expect(
        (await tasks.set({ [variable]: `${task} {{USER_NAME}}|{{TYPE}}|{{prompt:end:3}}|{{MESSAGES}}` }))
          .status,
      ).toBe(200);
      const { asked } = await tasks.ask(task, "{}", { messages: long, prompt: "abcdef" });
      const type = task === "queries" ? "web_search" : task === "auto" ? "general" : "";
      expect(asked.body.messages[0].content).toBe(`${task} admin|${type}|def|${all}`);
      await tasks.set({ [variable]: "" });
    }
    // Configuration document: the built-in one gets the first user message and the last four, cut.
    const { asked } = await tasks.ask("follow_up", "{}", { messages: long });
    const [, shown] = asked.body.messages[0].content.split(/<\/?conversation>\n/);
    expect(shown).toBe(`USER: m0\nUSER: m6\nASSISTANT: m7\nUSER: m8\nUSER: ${"x".repeat(1000)}\n`);
  });
});
