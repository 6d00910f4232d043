import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventsOf, isCompletion, type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { testPython } from "#test/support/python.ts";
import { text } from "#test/support/upstream-scripts.ts";
import { type JupyterProcess, startJupyter } from "./jupyter/jupyter.fixture.ts";

const tagged = (code: string) =>
  `I look.\n<code_interpreter type="code" lang="python">\n${code}\n</code_interpreter>`;

describe.skipIf(testPython === undefined)("code in the text of a model (needs TEST_PYTHON)", () => {
  let jupyter: JupyterProcess;
  let stage: RunStage;

  beforeAll(async () => {
    jupyter = await startJupyter(testPython as string);
    stage = await startRunStage({
      env: {
        CODE_EXECUTION_ENGINE: "jupyter",
        CODE_EXECUTION_JUPYTER_URL: jupyter.url,
        CODE_EXECUTION_JUPYTER_AUTH_TOKEN: jupyter.token,
        CHAT_RESPONSE_MAX_TOOL_CALL_ITERATIONS: "3",
      },
    });
  });
  afterAll(async () => {
    await stage?.close();
    await jupyter?.close();
  });

  /** A reply in legacy mode whose model says these texts, one a round. */
  async function reply(texts: readonly string[], body: object = {}, token?: string) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const isOurs = (request: Parameters<typeof isCompletion>[0]) =>
      isCompletion(request) && request.body?.seed === seed;
    texts.forEach((said) => stage.upstream.reply(isOurs, text(said)));
    const chat = await stage.makeChat();
    const params = { function_calling: "legacy" };
    const features = { code_interpreter: true };
    const asked = { chat_id: chat.chatId, id: chat.replyId, seed, params, features, ...body };
    expect((await stage.complete(asked, token)).status).toBe(200);
    await stage.ended(chat.chatId);
    return {
      ...chat,
      message: await stage.message(chat.chatId, chat.replyId),
      asked: stage.upstream.requests.filter(isOurs).map(({ body: sent }) => sent),
    };
  }

  it("runs at the end of a round; the model goes on with what it gave", async () => {
    const client = await stage.connect();
    const { message, asked, replyId, chatId, userId } = await reply([
      `${tagged("print('hi')\n6 * 7")}\nIt gives 5.`,
      "It gives 42.",
    ]);
    const [system, question, said, answer] = asked[1].messages;
    expect(asked[0].messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user"]);
    expect(asked[0].tools).toBeUndefined();
    expect([system.role, system.content]).toEqual([
      "system",
      expect.stringContaining("<code_interpreter type"),
    ]);
    expect(question).toEqual({ role: "user", content: "Hi" });
    expect(said).toEqual({ role: "assistant", content: tagged("print('hi')\n6 * 7") });
    expect([answer.role, JSON.parse(answer.content.split("\n")[1])]).toEqual([
      "user",
      { stdout: "hi\n", stderr: "", result: "42" },
    ]);
    expect(message).toMatchObject({ content: "I look.\n\nIt gives 42.", done: true });
    expect(message.output.map(({ type }: { type: string }) => type)).toEqual([
      "message",
      "service:code_interpreter",
      "message",
    ]);
    const item = message.output[1];
    expect(item).toMatchObject({
      id: expect.stringMatching(/^ci_/),
      status: "completed",
      lang: "python",
      code: "print('hi')\n6 * 7",
      output: { stdout: "hi\n", stderr: "", result: "42" },
      attributes: { type: "code", lang: "python" },
      tool: { id: "code.execute_code", title: "Python" },
    });
    expect(item.duration).toBeGreaterThan(0);
    const kinds = eventsOf(client, replyId).map(({ data }) => data.data.kind);
    expect(kinds).toContain("code");
    const statuses = eventsOf(client, replyId).flatMap(({ data }) => data.data.output ?? []);
    expect(statuses.filter(({ type }) => type === "service:code_interpreter").length).toBeGreaterThan(2);
    // The next question in the chat tells the model of both again.
    const more = { chat_id: chatId, user_message: { id: `${userId}2`, content: "And?", parentId: replyId } };
    const later = await next(more);
    expect(later.slice(-4).map(({ role }: { role: string }) => role)).toEqual([
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    expect(later.at(-3).content).toBe(answer.content);
  });

  /** What a model is asked in the next turn. */
  async function next(body: object) {
    stage.upstream.reply(isCompletion, text("Fine."));
    const params = { function_calling: "legacy" };
    expect((await stage.complete({ ...body, id: "later", parent_id: "x", params })).status).toBe(200);
    await stage.ended((body as { chat_id: string }).chat_id);
    return stage.upstream.requests.findLast(isCompletion)?.body.messages;
  }

  it("shows failures and pictures, and other languages are refused", async () => {
    const picture = `1/0`;
    const failed = await reply([tagged(picture), "Sorry."]);
    expect(failed.message.output[1]).toMatchObject({
      is_error: true,
      output: { stderr: expect.stringContaining("ZeroDivisionError") },
    });
    const drawn = await reply([
      tagged(`from IPython.display import Image\nimport base64\nImage(base64.b64decode("${pixel}"))`),
      "There.",
    ]);
    expect(drawn.message.files).toMatchObject([{ type: "image", name: "picture-1.png" }]);
    expect(drawn.asked[1].messages.at(-1).content[1]).toMatchObject({
      type: "image_url",
      image_url: { url: expect.stringMatching(/^data:image\/png;base64,/) },
    });
    const other = await reply(['<code_interpreter lang="ruby">puts 1</code_interpreter>', "Well."]);
    expect(other.asked[1].messages.at(-1).content).toContain("cannot be run here: write python");
  });

  it("ends a reply that never stops running code", async () => {
    const { message, asked } = await reply([1, 2, 3, 4, 5].map((number) => tagged(`${number}`)));
    expect(asked).toHaveLength(4);
    expect(message.error.content).toBe("Tool-call limit reached (3 iterations).");
  });

  it("is there only where settings, model, request and mode say so", async () => {
    const isTold = async (body: object) => {
      const { asked, message } = await reply([tagged("1"), "Fine."], body);
      expect(asked.length).toBe(asked[0].messages[0].role === "system" ? 2 : 1);
      return [asked.length === 2, (message.statusHistory ?? []).some(isIgnored)];
    };
    const isIgnored = ({ action }: { action?: string }) => action === "feature_ignored";
    expect(await isTold({})).toEqual([true, false]);
    expect(await isTold({ features: {} })).toEqual([false, false]);
    expect(await isTold({ params: {} })).toEqual([false, false]);
    const change = (body: object) => stage.user.call("POST /api/v1/configs/code_execution", body);
    await change({ ENABLE_CODE_INTERPRETER: false });
    expect(await isTold({})).toEqual([false, true]);
    await change({ ENABLE_CODE_INTERPRETER: true, CODE_INTERPRETER_PROMPT_TEMPLATE: "Tag your code." });
    const { asked } = await reply(["Hm."]);
    expect(asked[0].messages[0].content).toMatch(/^Tag your code\.\n\nRuns Python on a Jupyter server/);
  });
});

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChAGAWjR9awAAAABJRU5ErkJggg==";
