// Takes long: four platforms of different settings store a reply once a second.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Script } from "#test/support/upstream-exchange.ts";
import { chunk, reasoningChunks, textChunks } from "#test/support/upstream-chunks.ts";
import { errorFrame, sse, text, tokens } from "#test/support/upstream-scripts.ts";
import { fromUser, textPart } from "#test/support/wire-parts.ts";
import { type RunStage, startRunStage } from "../runs.fixture.ts";

const path = "/chat/completions";

describe.each([
  ["once a second", {}],
  ["with every chunk", { ENABLE_REALTIME_CHAT_SAVE: "true" }],
  ["in place", { ENABLE_CHAT_RESPONSE_STREAM_INPLACE_APPEND: "true" }],
  [
    "in place with every chunk",
    { ENABLE_CHAT_RESPONSE_STREAM_INPLACE_APPEND: "true", ENABLE_REALTIME_CHAT_SAVE: "true" },
  ],
])("a growing reply is stored %s", (_name, env) => {
  let stage: RunStage;
  beforeAll(async () => {
    stage = await startRunStage({ env });
  });
  afterAll(() => stage?.close());

  it("so that whoever reads the chat meanwhile sees it grow", async () => {
    const { chatId, replyId } = await stage.makeChat();
    stage.upstream.reply(path, tokens(120, 20));
    await stage.complete({ chat_id: chatId, id: replyId });
    const seen = new Set<string>();
    let isDone = false;
    while (!isDone) {
      const reply = await stage.message(chatId, replyId);
      seen.add(reply.content);
      isDone = reply.done;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const whole = Array.from({ length: 120 }, (_, n) => `t${n} `).join("");
    expect(seen.size).toBeGreaterThan(2);
    expect([...seen].filter((content) => !whole.startsWith(content))).toEqual([]);
    expect((await stage.message(chatId, replyId)).content).toBe(whole);
  });

  it("with what was thought apart from what was said", async () => {
    const { chatId, replyId } = await stage.makeChat();
    stage.upstream.reply(path, sse(reasoningChunks(["Hm", "m"], ["An", "swer"])));
    await stage.complete({ chat_id: chatId, id: replyId });
    await stage.ended(chatId);
    expect(await stage.message(chatId, replyId)).toMatchObject({
      content: "Answer",
      output: [{ type: "reasoning", content: [{ text: "Hmm" }] }, { type: "message" }],
    });
  });
});

describe("pictures", () => {
  let stage: RunStage;
  beforeAll(async () => {
    stage = await startRunStage({ env: { ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION: "true" } });
  });
  afterAll(() => stage?.close());

  it("of a reply become files of the owner, small ones stay", async () => {
    const { chatId, replyId } = await stage.makeChat();
    const bytes = Buffer.alloc(3000, 7);
    const big = `data:image/png;base64,${bytes.toString("base64")}`;
    const small = "data:image/png;base64,AAAA";
    const pieces = ["Look: ![a](", big.slice(0, 100), big.slice(100), `) and ![b](${small})`];
    stage.upstream.reply(path, sse(textChunks(pieces)));
    await stage.complete({ chat_id: chatId, id: replyId });
    await stage.ended(chatId);
    const { content } = await stage.message(chatId, replyId);
    const [, url = ""] = /!\[a\]\((\S+)\)/.exec(content) ?? [];
    expect(content).toBe(`Look: ![a](${url}) and ![b](${small})`);
    const file = await fetch(stage.app.url + url, {
      headers: { authorization: `Bearer ${stage.user.token}` },
    });
    expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
    expect(file.headers.get("content-type")).toBe("image/png");
  });

  it("of a question that are files here go upstream as data; those of others do not", async () => {
    const upload = async (token: string) => {
      const form = new FormData();
      form.append("file", new Blob([Buffer.from("picture")], { type: "image/png" }), "a.png");
      const made = await stage.app.call("POST /api/v1/files/?process=false", { token, body: form });
      return made.body.id as string;
    };
    const own = await upload(stage.user.token);
    const foreign = await upload((await stage.app.user()).token);
    const toPart = (id: string) => ({ type: "image_url", image_url: { url: `/api/v1/files/${id}/content` } });
    const content = [textPart("See"), toPart(own), toPart("00000000-0000-4000-8000-000000000000")];
    stage.upstream.reply(path, text("I see"));
    const asked = stage.upstream.nextRequest((request) =>
      Array.isArray(request.body?.messages?.[0]?.content),
    );
    const { chatId, replyId } = await stage.makeChat();
    await stage.complete({ chat_id: chatId, id: replyId, messages: [fromUser(content)] });
    expect((await asked).body.messages[0].content).toEqual([
      textPart("See"),
      {
        type: "image_url",
        image_url: { url: `data:image/png;base64,${Buffer.from("picture").toString("base64")}` },
      },
    ]);
    // An administrator may read everybody's files, a member may not.
    const member = await stage.app.user();
    const everybody = [{ principal_type: "user", principal_id: "*", permission: "read" }];
    const open = { id: "alpha", name: "alpha", base_model_id: null, meta: {}, params: {} };
    const made = await stage.user.call("POST /api/v1/models/create", { ...open, access_grants: everybody });
    expect(made.status).toBe(200);
    stage.upstream.reply(path, text("I see nothing"));
    const next = stage.upstream.nextRequest(
      (request) => request.body?.messages?.[0]?.content?.[0]?.text === "Mine",
    );
    const messages = [fromUser([textPart("Mine"), toPart(foreign)])];
    await stage.complete({ chat_id: "temporary:1", id: "m", messages }, member.token);
    expect((await next).body.messages[0].content).toEqual([textPart("Mine")]);
  });
});

it("a reply that the database refuses says so, and the others are stored", async () => {
  const stage = await startRunStage();
  try {
    const { database } = stage.app.running;
    const [refused, other] = [await stage.makeChat(), await stage.makeChat()];
    await database.query(`
      create function refuse_end() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse_end before update on chat_message for each row
        when (new.id = '${refused.replyId}' and new.ended_by is not null) execute function refuse_end()`);
    const client = await stage.connect();
    const end = client.event((_, data) => data?.message_id === refused.replyId && data.data.data?.done);
    for (const { chatId, replyId } of [refused, other]) {
      stage.upstream.reply(path, text("Hello"));
      await stage.complete({ chat_id: chatId, id: replyId });
      await stage.ended(chatId);
    }
    const error = { content: expect.stringMatching(/^Something went wrong/) };
    expect(await stage.message(refused.chatId, refused.replyId)).toMatchObject({ done: true, error });
    expect((await end).data.data).toMatchObject({ done: true, error });
    expect(await stage.message(other.chatId, other.replyId)).toMatchObject({ done: true, content: "Hello" });
  } finally {
    await stage.close();
  }
});

it("a picture that cannot be stored stays in its reply; those of a reply that broke off are stored", async () => {
  const stage = await startRunStage({
    env: { ENABLE_CHAT_RESPONSE_BASE64_IMAGE_URL_CONVERSION: "true" },
  });
  try {
    const { database } = stage.app.running;
    const picture = `![a](data:image/png;base64,${Buffer.alloc(3000, 7).toString("base64")})`;
    const answer = async (script: Script) => {
      const { chatId, replyId } = await stage.makeChat();
      stage.upstream.reply(path, script);
      await stage.complete({ chat_id: chatId, id: replyId });
      await stage.ended(chatId);
      return await stage.message(chatId, replyId);
    };
    const broken = await answer(sse([chunk({ content: picture }), errorFrame("Out of memory")]));
    expect(broken.content).toMatch(/^!\[a\]\(\/api\/v1\/files\/[^/]+\/content\)$/);
    expect(broken.error.content).toContain("Out of memory");
    await database.query(`
      create function refuse_file() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse_file before insert on file for each row execute function refuse_file()`);
    const kept = await answer(text(picture));
    expect([kept.content, kept.error]).toEqual([picture, undefined]);
  } finally {
    await stage.close();
  }
});
