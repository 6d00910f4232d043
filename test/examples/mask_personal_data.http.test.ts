import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Conversation } from "#kernel/pipeline/filter.ts";
import { defineFilter } from "#kernel/pipeline/filter.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { chunk, textChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { openStage, says, type Stage, toFrames, toText } from "./examples.fixture.ts";

let stage: Stage;

/** The conversations after the outlet filters. */
const stored: Conversation[] = [];
const witness = definePlugin({
  id: "witness",
  title: "Witness",
  setup: () => ({
    filters: [
      defineFilter({
        id: "witness.outlet",
        name: "Witness",
        priority: 1000,
        outlet: (conversation) => void stored.push(conversation),
      }),
    ],
  }),
});

beforeAll(async () => {
  stage = await openStage(["alpha"], {}, [witness]);
  await stage.install("mask_personal_data");
});

afterAll(() => stage.close());

const question =
  "I am ana@example.org, +49 170 1234567. Pay DE89 3704 0044 0532 0130 00 with 4111 1111 1111 1111.";
const masked = "I am [EMAIL_1], [PHONE_1]. Pay [IBAN_1] with [CARD_1].";

/** Asks `content`; the upstream answers in these pieces. */
async function stream(content: unknown, pieces: readonly string[], user = stage.admin) {
  stage.upstream.reply("/chat/completions", sse(textChunks(pieces, {})));
  stage.asked();
  const answer = await stage.ask({ messages: [says("user", content)], stream: true }, user);
  expect(answer.status).toBe(200);
  return { answer, sent: stage.asked()[0] };
}

describe("what the model sees", () => {
  it("are placeholders, with a hint what to do with them", async () => {
    const { sent } = await stream(question, ["ok"]);
    expect(sent.messages).toEqual([
      says("system", expect.stringContaining("[EMAIL_1]")),
      says("user", masked),
    ]);
    expect(JSON.stringify(sent)).not.toMatch(/ana@|1234567|3704|4111/);
  });

  it("is left alone where nothing personal stands", async () => {
    const harmless =
      "Order 4111 1111 1111 1112 of 2026-11-21, version 10.20.30.40, IBAN DE00 1234 5678 9012 3456 00";
    const { sent, answer } = await stream(harmless, ["[EMAIL_1] is no placeholder of mine"]);
    expect(sent.messages).toEqual([says("user", harmless)]);
    expect(toText(answer)).toBe("[EMAIL_1] is no placeholder of mine");
  });

  it("is masked in parts, in tool calls and in their results, each value once", async () => {
    const args = JSON.stringify({ to: "ana@example.org" });
    const messages = [
      says("user", [
        { type: "text", text: "Write to ana@example.org" },
        { type: "image_url", image_url: { url: "x:" } },
      ]),
      says("assistant", null, {
        tool_calls: [{ id: "1", type: "function", function: { name: "mail", arguments: args } }],
      }),
      says("tool", "ana@example.org and ben@example.org", { tool_call_id: "1" }),
      says("user", "[EMAIL_2] I write myself"),
    ];
    stage.upstream.reply("/chat/completions", text("ok"));
    stage.asked();
    await stage.ask({ messages });
    const [, first, second, third] = stage.asked()[0].messages;
    expect(first.content[0].text).toBe("Write to [EMAIL_1]");
    expect(second.tool_calls[0].function.arguments).toBe('{"to":"[EMAIL_1]"}');
    expect(third.content).toBe("[EMAIL_1] and [EMAIL_3]");
  });

  it("follows the valves", async () => {
    const valves = "/api/v1/functions/id/mask_personal_data/valves/update";
    await stage.post(valves, { phones: false, hint: "" });
    const { sent } = await stream("+49 170 1234567 ana@example.org", ["ok"]);
    expect(sent.messages).toEqual([says("user", "+49 170 1234567 [EMAIL_1]")]);
    await stage.post(valves, {});
  });
});

describe("what the user sees", () => {
  it("are the originals, however the placeholders are cut", async () => {
    const reply = "Hello [EMAIL_1], I call [PHONE_1] ([NOTE_1]) [x] and [EMAIL_1]";
    const cuts = [1, 2, 3, 5, 7, 11, reply.length].map((size) =>
      Array.from({ length: Math.ceil(reply.length / size) }, (_, n) => reply.slice(n * size, (n + 1) * size)),
    );
    for (const pieces of cuts) {
      const { answer } = await stream(question, pieces);
      expect(toText(answer)).toBe(
        "Hello ana@example.org, I call +49 170 1234567 ([NOTE_1]) [x] and ana@example.org",
      );
    }
  });

  it("loses nothing of a reply that ends within a placeholder", async () => {
    const { answer } = await stream(question, ["It is [EMA", "IL_"]);
    expect(toText(answer)).toBe("It is [EMAIL_");
  });

  it("has originals in the arguments of tool calls, too", async () => {
    const piece = (args: string, finish: string | null = null) =>
      chunk({ tool_calls: [{ index: 0, function: { arguments: args } }] }, { finish });
    stage.upstream.reply(
      "/chat/completions",
      sse([piece('{"to":"[EM'), piece('AIL_1]"'), piece("}"), chunk({}, { finish: "tool_calls" })]),
    );
    const answer = await stage.ask({ messages: [says("user", question)], stream: true });
    const args = toFrames(answer.text).flatMap(
      ({ choices }) => choices[0].delta.tool_calls?.[0]?.function.arguments ?? "",
    );
    expect(JSON.parse(args.join(""))).toEqual({ to: "ana@example.org" });
  });

  it("is stored with the originals after an unstreamed reply, which shows placeholders itself", async () => {
    stage.upstream.reply("/chat/completions", text("I write to [EMAIL_1]."));
    const answer = await stage.ask({ messages: [says("user", question)] });
    expect(toText(answer)).toBe("I write to [EMAIL_1].");
    const last = () => stored.at(-1)?.messages.map(({ content }) => content) ?? [];
    await expect.poll(last).toEqual(expect.arrayContaining([question, "I write to ana@example.org."]));
  });

  it("gets the originals of an unstreamed reply from /api/chat/completed", async () => {
    const messages = [says("user", question), says("assistant", "I write to [EMAIL_1] and [EMAIL_2].")];
    const filtered = await stage.post("/api/chat/completed", { model: "alpha", messages });
    expect(filtered.messages.at(-1).content).toBe("I write to ana@example.org and [EMAIL_2].");
  });
});

it("keeps two users apart who ask at the same moment", async () => {
  const people = await Promise.all([stage.app.user(), stage.app.user(), stage.app.user()]);
  const paced = sse(textChunks(["Dear ", "[EMA", "IL", "_1", "], ", "hello"]), { every: 20 });
  const answers = await Promise.all(
    people.map((person, n) => {
      stage.upstream.reply("/chat/completions", paced);
      const messages = [says("user", `I am person${n}@example.org`)];
      return stage.ask({ messages, stream: true }, person);
    }),
  );
  expect(answers.map(toText)).toEqual([0, 1, 2].map((n) => `Dear person${n}@example.org, hello`));
});

it("costs long texts of one kind of letter no time", async () => {
  const started = performance.now();
  for (const letter of ["a", "a.", "1 ", "1", "A1", "+1-", "("]) {
    const { sent } = await stream(letter.repeat(60_000 / letter.length), ["ok"]);
    expect(sent.messages).toHaveLength(1);
  }
  expect(performance.now() - started).toBeLessThan(10_000);
});

describe("a title", () => {
  it("is found by a model that sees placeholders, and names what they stand for", async () => {
    stage.asked();
    stage.upstream.reply("/chat/completions", text('{"title": "Mail to [EMAIL_1]"}'));
    const messages = [says("user", "Write to ana@example.org")];
    const answer = await stage.post("/api/v1/tasks/title/completions", { model: "alpha", messages });
    expect(JSON.parse(answer.choices[0].message.content)).toEqual({ title: "Mail to ana@example.org" });
    const [sent] = stage.asked();
    expect(JSON.stringify(sent)).toContain("Write to [EMAIL_1]");
    expect(JSON.stringify(sent)).not.toContain("ana@");
  });
});
