import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunStage, isCompletion, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { fromSystem, fromUser, textPart } from "#test/support/wire-parts.ts";
import { toolbox } from "../tools/tools.fixture.ts";
import { seen, shelf } from "./sources.fixture.ts";

let stage: RunStage;
beforeAll(async () => {
  stage = await startRunStage({
    plugins: [shelf, toolbox],
    env: { OPENAI_API_CONFIGS: JSON.stringify({ 0: { access: "everyone" } }) },
  });
});
afterAll(() => stage?.close());
beforeEach(() => {
  stage.upstream.always("/chat/completions", text("Ada's [1]."));
  seen.gathered.length = 0;
});

const question = "Whose is the gate?";
const files = [{ type: "shelf", id: "open" }];

async function ask(body: object = {}, token = stage.user.token) {
  const answer = await stage.app.call("POST /api/chat/completions", {
    token,
    body: { model: "alpha", messages: [fromUser(question)], ...body },
  });
  return { ...answer, asked: stage.upstream.requests.findLast(isCompletion)?.body };
}

/** As the model gets them: texts of one source share its number. */
const tags = [
  '<source id="1" name="The &quot;Deed&quot;" resource-type="file" resource-id="book-1">The gate is Ada\'s.&lt;/source></source>',
  '<source id="2" name="Map">North is up.</source>',
  '<source id="1" name="The &quot;Deed&quot;" resource-type="file" resource-id="book-1">The mill is Ben\'s.</source>',
].join("\n");

describe("an answer over HTTP", () => {
  it("rests on sources that stand around the question and at the top of the answer", async () => {
    const { body, asked } = await ask({ files });
    const [{ role, content }] = asked.messages;
    expect(role).toBe("user");
    expect(content).toContain(tags);
    expect(content.endsWith(`\n\n${question}`)).toBe(true);
    expect(asked.files).toBeUndefined();
    expect(body.choices[0].message.content).toBe("Ada's [1].");
    expect(body.sources.map(({ source }: { source: { id: string } }) => source.id)).toEqual([
      "book-1",
      "book-2",
      "book-1",
    ]);
    expect(body.sources[0]).toMatchObject({ distances: [0.9], metadata: [{ page: 2 }] });
  });

  it("streams its sources first", async () => {
    const { text: frames } = await ask({ files, stream: true });
    const [first, ...rest] = frames.split("\n\n").filter((frame) => frame.startsWith("data: {"));
    expect(JSON.parse((first as string).slice(6))).toMatchObject({
      choices: [],
      sources: [{ source: { id: "book-1" } }, {}, {}],
    });
    expect(rest.length).toBeGreaterThan(0);
    expect(frames.trimEnd().endsWith("data: [DONE]")).toBe(true);
  });

  it("is passed on as it is where no source is needed", async () => {
    const { body, asked } = await ask();
    expect(asked.messages).toEqual([fromUser(question)]);
    expect(body.sources).toBeUndefined();
    expect(seen.gathered).toEqual([]);
  });

  it("counts the results of chosen tools and of context through", async () => {
    stage.upstream.reply(
      isCompletion,
      text(JSON.stringify({ tool_calls: [{ name: "clock", parameters: {} }] })),
    );
    const { body, asked } = await ask({
      files,
      tool_ids: ["toolbox.clock"],
      params: { function_calling: "legacy" },
    });
    const { content } = asked.messages[0];
    expect(content).toContain('<source id="1" name="toolbox.clock/clock">It is noon.</source>');
    expect(content).toContain('<source id="2" name="The &quot;Deed&quot;"');
    expect(content).toContain('<source id="3" name="Map">');
    expect(body.sources).toHaveLength(4);
  });

  it("serves a feature, which is then not said to be ignored", async () => {
    const { headers } = await ask({ features: { lookup: true, web_search: true } });
    expect(headers.get("x-service-ignored")).toBe("features.web_search");
  });

  it("keeps pictures beside the question, and follows the operator's template", async () => {
    const setting = (RAG_TEMPLATE: string) =>
      stage.user.call("POST /api/v1/configs/settings", { RAG_TEMPLATE });
    expect((await setting("Q: [query] {{QUERY}}; C: [context]")).status).toBe(200);
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const messages = [fromUser([textPart("What is {{CONTEXT}}?"), image])];
    const { asked } = await ask({ files, messages });
    const said = "What is {{CONTEXT}}?";
    expect(asked.messages[0].content).toEqual([textPart(`Q: ${said} ${said}; C: ${tags}`), image]);
    await setting("");
  });
});

describe("a reply in a chat", () => {
  it("shows and keeps its sources, statuses and problems", async () => {
    const client = await stage.connect();
    const { chatId, replyId } = await stage.makeChat(question);
    await stage.complete({ chat_id: chatId, id: replyId, files: [{ ...files[0], note: "broken" }] });
    await stage.ended(chatId);
    const { sources, statusHistory, content } = await stage.message(chatId, replyId);
    expect(content).toBe("Ada's [1].");
    expect(sources).toHaveLength(3);
    expect(statusHistory).toMatchObject([
      { action: "knowledge_search", query: "q" },
      { action: "context_unavailable", description: "The map has no text." },
    ]);
    const told = client.events.map(({ data }) => data).filter((event) => event?.message_id === replyId);
    const frame = told.find(({ data }) => data.type === "chat:completion" && data.data.sources);
    expect(frame.data.data.sources).toHaveLength(3);
    expect(seen.gathered).toMatchObject([{ mode: "native", chatId }]);
  });

  it("is legacy where no tools over knowledge are offered", async () => {
    const { chatId, replyId } = await stage.makeChat(question);
    await stage.complete({ chat_id: chatId, id: replyId, files, session_id: undefined });
    expect(seen.gathered).toMatchObject([{ mode: "legacy" }]);
  });
});

describe("items of files", () => {
  it.each([
    [{ type: "shelf", id: "foreign" }, 404],
    [{ type: "cupboard", id: "open" }, 404],
    [{ type: "cupboard" }, 400],
  ])("%j are refused with %i before a model is asked", async (item, status) => {
    const before = stage.upstream.requests.length;
    expect((await ask({ files: [...files, item] })).status).toBe(status);
    const { chatId, replyId } = await stage.makeChat();
    expect((await stage.complete({ chat_id: chatId, id: replyId, files: [item] })).status).toBe(status);
    expect((await stage.message(chatId, replyId)).done).toBe(false);
    expect(stage.upstream.requests.length).toBe(before);
  });

  it("are one's own", async () => {
    const [one, other] = [await stage.app.user(), await stage.app.user()];
    const own = { files: [{ type: "shelf", id: one.id }] };
    expect([(await ask(own, one.token)).status, (await ask(own, other.token)).status]).toEqual([200, 404]);
  });
});

describe("RAG_SYSTEM_CONTEXT", () => {
  it("puts the context behind the system prompt and leaves the question alone", async () => {
    const other = await startRunStage({ plugins: [shelf], env: { RAG_SYSTEM_CONTEXT: "true" } });
    try {
      other.upstream.always("/chat/completions", text("Ada."));
      const messages = [fromSystem("Be short."), fromUser(question)];
      const body = { model: "alpha", messages, files };
      await other.user.call("POST /api/chat/completions", body);
      const asked = other.upstream.requests.findLast(isCompletion)?.body.messages;
      expect(asked).toHaveLength(2);
      expect(asked[0].content.startsWith("Be short.\n\n")).toBe(true);
      expect(asked[0].content).toContain(tags);
      expect(asked[1]).toEqual(messages[1]);
    } finally {
      await other.close();
    }
  });
});
