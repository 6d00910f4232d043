import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RunStage, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { openEgress } from "#test/support/egress.ts";
import { testPython } from "#test/support/python.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { type JupyterProcess, startJupyter } from "./jupyter/jupyter.fixture.ts";

describe.skipIf(testPython === undefined)("code on a Jupyter server (needs TEST_PYTHON)", () => {
  let jupyter: JupyterProcess;
  let stage: RunStage;

  beforeAll(async () => {
    jupyter = await startJupyter(testPython as string);
    stage = await startRunStage({
      env: {
        CODE_EXECUTION_ENGINE: "jupyter",
        CODE_EXECUTION_JUPYTER_URL: `${jupyter.url}/`,
        CODE_EXECUTION_JUPYTER_AUTH_TOKEN: jupyter.token,
        CODE_EXECUTION_JUPYTER_TIMEOUT: "20",
        CODE_INTERPRETER_JUPYTER_TIMEOUT: "20",
      },
    });
  });
  afterAll(async () => {
    await stage?.close();
    await jupyter?.close();
  });
  beforeEach(() => stage.upstream.always("/chat/completions", text("Done.")));

  const asAdmin = (route: string, body?: unknown) => stage.user.call(route, body);
  const execute = (code: string, more: object = {}) =>
    asAdmin("POST /api/v1/utils/code/execute", { code, ...more });
  const completions = ({ path }: UpstreamRequest) => path.endsWith("/chat/completions");
  const call = (code: string) =>
    stage.upstream.reply(
      completions,
      sse(toolCallChunks([{ id: "call_1", name: "execute_code", arguments: JSON.stringify({ code }) }], {})),
    );

  /** A reply whose model runs code; answers what is stored of it. */
  async function reply(chat: Awaited<ReturnType<RunStage["makeChat"]>>, code: string, body: object = {}) {
    call(code);
    const features = { code_interpreter: true };
    const answer = await stage.complete({ chat_id: chat.chatId, id: chat.replyId, features, ...body });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    await stage.ended(chat.chatId);
    const message = await stage.message(chat.chatId, chat.replyId);
    const result = message.output.find(({ type }: { type: string }) => type === "function_call_output");
    return { message, result, value: JSON.parse(result.output[0].text) };
  }

  it("answers what was printed, raised and evaluated", async () => {
    const { status, body } = await execute("print('hi')\n6 * 7");
    expect([status, body]).toMatchObject([
      200,
      { status: "success", stdout: "hi\n", stderr: "", result: "42" },
    ]);
    const failed = (await execute("1/0")).body;
    expect([failed.status, failed.stderr]).toEqual(["error", expect.stringContaining("ZeroDivisionError")]);
    expect(failed.stderr).not.toContain("\u001B");
  });

  it("shows pictures and tables", async () => {
    const { body } = await execute(
      `from IPython.display import display, HTML, Image\nimport base64\ndisplay(HTML("<table><tr><td>1</td></tr></table>"))\nImage(base64.b64decode("${pixel}"))`,
    );
    expect(body.html).toEqual(["<table><tr><td>1</td></tr></table>"]);
    expect(body.files).toMatchObject([{ name: "picture-1.png", content_type: "image/png" }]);
    expect(body.result).toContain(`data:image/png;base64,${pixel}`);
  });

  it("keeps the variables of a chat, and only there", async () => {
    const { chatId } = await stage.makeChat();
    const other = await stage.makeChat();
    await execute("x = 5", { chat_id: chatId });
    expect((await execute("x", { chat_id: chatId })).body.result).toBe("5");
    expect((await execute("x", { chat_id: other.chatId })).body.stderr).toContain("NameError");
    const stranger = await stage.app.user();
    const foreign = { token: stranger.token, body: { code: "x", chat_id: chatId } };
    expect((await stage.app.call("POST /api/v1/utils/code/execute", foreign)).status).toBe(404);
  });

  it("interrupts what runs too long, and goes on after a kernel died", async () => {
    const { chatId } = await stage.makeChat();
    await asAdmin("POST /api/v1/configs/code_execution", { CODE_EXECUTION_JUPYTER_TIMEOUT: 2 });
    await execute("x = 5", { chat_id: chatId });
    const late = (await execute("while True: pass", { chat_id: chatId })).body;
    expect([late.status, late.stderr]).toEqual(["timeout", expect.stringContaining("longer than 2 seconds")]);
    expect((await execute("x", { chat_id: chatId })).body.result).toBe("5");
    await asAdmin("POST /api/v1/configs/code_execution", { CODE_EXECUTION_JUPYTER_TIMEOUT: 20 });
    const died = (await execute("import os; os._exit(1)", { chat_id: chatId })).body;
    expect([died.status, died.stderr]).toEqual(["error", expect.stringContaining("The kernel died")]);
    expect((await execute("'again'", { chat_id: chatId })).body.result).toBe("'again'");
  });

  it("is a tool of models: results, pictures and files reach the chat", async () => {
    const chat = await stage.makeChat();
    const form = new FormData();
    form.append("file", new File(["a,b\n1,2\n"], "given.csv", { type: "text/csv" }));
    const uploaded = await fetch(`${stage.app.url}/api/v1/files/`, {
      method: "POST",
      body: form,
      headers: { authorization: `Bearer ${stage.user.token}` },
    }).then(async (answer) => (await answer.json()) as { id: string });
    const files = [{ type: "file", id: uploaded.id, name: "given.csv" }];
    const code = `open("out.txt", "w").write(open("given.csv").read().upper())\nfrom IPython.display import Image\nimport base64\nImage(base64.b64decode("${pixel}"))`;
    const { message, result, value } = await reply(chat, code, { files });
    expect(value).toMatchObject({
      status: "success",
      stderr: "",
      shown_to_user: "files: picture-1.png, out.txt",
    });
    expect(result.files.map(({ name, type }: Record<string, string>) => [name, type])).toEqual([
      ["picture-1.png", "image"],
      ["out.txt", "file"],
    ]);
    expect(message).toMatchObject({ content: "Done.", done: true });
    const written = message.files.find(({ name }: { name: string }) => name === "out.txt");
    expect((await asAdmin(`GET ${written.url}`)).text).toBe("A,B\n1,2\n");
    expect(stage.upstream.requests.findLast(completions)?.body.messages.at(-1).content).toBeDefined();
  });

  it("is offered only where settings, model, request and permission say so", async () => {
    const offered = async (body: object, token = stage.user.token) => {
      const chat = await stage.makeChat();
      if (token !== stage.user.token) {
        return [];
      }
      await stage.complete({ chat_id: chat.chatId, id: chat.replyId, ...body }, token);
      await stage.ended(chat.chatId);
      const tools = stage.upstream.requests.findLast(completions)?.body.tools ?? [];
      return tools
        .map((tool: { function: { name: string } }) => tool.function.name)
        .filter((name: string) => name === "execute_code");
    };
    const features = { code_interpreter: true };
    expect(await offered({ features })).toEqual(["execute_code"]);
    expect(await offered({})).toEqual([]);
    expect(await offered({ features: { code_interpreter: false } })).toEqual([]);
    for (const name of ["ENABLE_CODE_INTERPRETER", "ENABLE_CODE_EXECUTION"]) {
      await asAdmin("POST /api/v1/configs/code_execution", { [name]: false });
      expect(await offered({ features })).toEqual([]);
      const off = name === "ENABLE_CODE_EXECUTION";
      expect((await execute("1")).status).toBe(off ? 403 : 200);
      await asAdmin("POST /api/v1/configs/code_execution", { [name]: true });
    }
  });

  it("shuts idle kernels down", async () => {
    const { chatId } = await stage.makeChat();
    await execute("x = 1", { chat_id: chatId });
    const sessions = async () =>
      (await fetch(`${jupyter.url}/api/sessions?token=${jupyter.token}`).then((answer) =>
        answer.json(),
      )) as unknown[];
    expect((await sessions()).length).toBeGreaterThan(0);
    const { createJupyter } = await import("./jupyter/jupyter.ts");
    const egress = openEgress();
    const server = { url: jupyter.url, token: jupyter.token, password: "" };
    const own = createJupyter(egress, async () => "another deployment");
    const place = { userId: "u", chatId: "c" };
    await own.run({ server, code: "1", place, timeoutMs: 20_000, signal: new AbortController().signal });
    const before = (await sessions()).length;
    await own.reap(server, 60_000);
    expect((await sessions()).length).toBe(before);
    await own.reap(server, -1);
    expect((await sessions()).length).toBe(before - 1);
    await egress.close();
  });

  it("keeps secrets to itself, and to their address", async () => {
    const path = "/api/v1/configs/code_execution";
    const shown = (await asAdmin(`GET ${path}`)).body;
    expect(shown).toMatchObject({ CODE_EXECUTION_ENGINE: "jupyter", ENABLE_CODE_EXECUTION: true });
    expect(shown.CODE_EXECUTION_JUPYTER_AUTH_TOKEN).not.toContain("secret-token");
    expect((await asAdmin(`POST ${path}`, shown)).status).toBe(200);
    expect((await execute("1")).body.result).toBe("1");
    const moved = await asAdmin(`POST ${path}`, { CODE_EXECUTION_JUPYTER_URL: "http://127.0.0.1:1" });
    expect([moved.status, moved.body.detail]).toEqual([400, expect.stringContaining("JUPYTER_AUTH_TOKEN")]);
    const wrong = await asAdmin(`POST ${path}`, {
      CODE_EXECUTION_JUPYTER_URL: "file:///etc/passwd",
      CODE_EXECUTION_JUPYTER_AUTH_TOKEN: "x",
    });
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining("CODE_EXECUTION_JUPYTER_URL")]);
    const member = await stage.app.user();
    expect((await member.call(`GET ${path}`)).status).toBe(403);
    await asAdmin(`POST ${path}`, { CODE_EXECUTION_JUPYTER_AUTH_TOKEN: "wrong" });
    const refused = await execute("1");
    expect([refused.status, refused.body.detail]).toEqual([503, expect.stringContaining("sign-in")]);
    await asAdmin(`POST ${path}`, { CODE_EXECUTION_JUPYTER_AUTH_TOKEN: jupyter.token });
    // The token is stored, and not shown to a server that is said to ask for none.
    await asAdmin(`POST ${path}`, { CODE_EXECUTION_JUPYTER_AUTH: "none" });
    const unsigned = await execute("1");
    expect([unsigned.status, unsigned.body.detail]).toEqual([503, expect.stringContaining("sign-in")]);
    await asAdmin(`POST ${path}`, { CODE_EXECUTION_JUPYTER_AUTH: "token" });
    expect((await execute("1")).body.result).toBe("1");
  });
});

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
