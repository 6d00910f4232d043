import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type AppWithUpstream, startAppWithUpstream } from "#test/support/app-with-upstream.ts";
import { describeInterface } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import { connectPlain } from "#test/support/sockets.ts";
import { toolCallChunks } from "#test/support/upstream-chunks.ts";
import { sse, text } from "#test/support/upstream-scripts.ts";
import { type PackageIndex, startPackageIndex } from "../browser/index.fixture.ts";

describeInterface("Python in the browser", ({ setUp, openPage }) => {
  let world: AppWithUpstream;
  let index: PackageIndex;
  let token: string;

  setUp(async (keep) => {
    index = await keep(startPackageIndex());
    world = await keep(
      startAppWithUpstream({
        models: ["alpha"],
        env: { PYODIDE_PACKAGE_INDEX: index.url, PYODIDE_TIMEOUT_SECONDS: "3", PYODIDE_MEMORY_MB: "256" },
      }),
    );
    ({ token } = await world.app.admin());
  });

  /** A chat whose reply has these blocks of Python; resolves to its address. */
  async function makeChat(...blocks: string[]): Promise<string> {
    const [question, reply] = [randomUUID(), randomUUID()];
    const content = blocks.map((code) => `\`\`\`python\n${code}\n\`\`\``).join("\n\n");
    const messages = {
      [question]: { id: question, role: "user", content: "Show it", parentId: null, childrenIds: [reply] },
      [reply]: {
        id: reply,
        role: "assistant",
        content,
        parentId: question,
        childrenIds: [],
        done: true,
        model: "alpha",
      },
    };
    const chat = { title: "Python", models: ["alpha"], history: { currentId: reply, messages } };
    const made = await world.app.call("POST /api/v1/chats/new", { token, body: { chat } });
    expect(made.status).toBe(200);
    return `/c/${made.body.id}`;
  }

  const open = async (path: string) => {
    const opened = await openPage({ url: world.app.url, token, path });
    return opened;
  };

  const blockOf = (page: Page, at: number) => page.locator(".markdown .bg-panel").nth(at);

  /** Runs a block and resolves to the text below it. */
  async function run(page: Page, at: number): Promise<string> {
    await blockOf(page, at).getByRole("button", { name: "Run", exact: true }).click();
    const output = blockOf(page, at).getByRole("region", { name: "Output" });
    await output.locator("[role=status]", { hasText: /^(?:Output|Stopped)/ }).waitFor();
    return await output.innerText();
  }

  const png = `import struct, zlib
def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
rows = b"".join(b"\\0" + b"".join(bytes([y * 4, x * 4, 160]) for x in range(60)) for y in range(60))
data = b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60, 60, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
class Plot:
    def _repr_png_(self): return data
class Table:
    def _repr_html_(self): return "<table><tr><th>n</th></tr><tr><td>12</td></tr></table><script>window.ran = 1</script>"
display(Table())
open("numbers.csv", "w").write("a,b")
Plot()`;

  /** The session of a page, read from its socket as it opens anew. */
  async function sessionOf(page: Page): Promise<string> {
    const address = page.url();
    // A socket that the page was still opening would be taken for that of the page that comes.
    await page.goto("about:blank");
    const { promise, resolve } = Promise.withResolvers<string>();
    page.on("websocket", (socket) =>
      socket.on("framereceived", ({ payload }) => {
        if (String(payload).includes('"session_id"')) {
          resolve(String(payload));
        }
      }),
    );
    await page.goto(address);
    return JSON.parse(await promise).data.session_id;
  }

  /** Starts a reply in a new chat whose model calls `execute_code` with the code. */
  async function start(sessionId: string, code: string): Promise<{ chatId: string; id: string }> {
    world.upstream.reply(
      ({ body }) => body?.stream === true,
      sse(toolCallChunks([{ id: "c1", name: "execute_code", arguments: JSON.stringify({ code }) }], {})),
    );
    const path = await makeChat("1");
    const chatId = path.split("/").at(-1)!;
    const id = (await world.app.call(`GET /api/v1/chats/${chatId}`, { token })).body.chat.history.currentId;
    const body = {
      model: "alpha",
      stream: true,
      chat_id: chatId,
      id,
      session_id: sessionId,
      features: { code_interpreter: true },
      messages: [{ role: "user", content: "Run" }],
    };
    expect((await world.app.call("POST /api/chat/completions", { token, body })).status).toBe(200);
    return { chatId, id };
  }

  async function ended(chatId: string): Promise<void> {
    const tasks = async () =>
      (await world.app.call(`GET /api/tasks/chat/${chatId}`, { token })).body.task_ids;
    await expect.poll(tasks, { timeout: 90_000 }).toEqual([]);
  }

  test("runs blocks of code: output, values, tables, pictures, files, errors", async () => {
    const { page, problems } = await open(
      await makeChat(
        "import sqlite3, ssl, lzma, sys\nprint('Hello', sqlite3.connect(':memory:').execute('select 6*7').fetchone()[0])\nx = 5\nx * 2",
        "print(x)\n1/0",
        png,
        "import greeter\nprint(greeter.greet('you'))",
        "import numpy",
      ),
    );
    expect(await run(page, 0)).toMatch(/Hello 42[\s\S]*10/);
    const failed = await run(page, 1);
    expect(failed).toMatch(/^5$/m);
    expect(failed).toContain("ZeroDivisionError: division by zero");
    expect(failed).not.toContain("_pyodide");
    await run(page, 2);
    const output = blockOf(page, 2).getByRole("region", { name: "Output" });
    await output.getByRole("button", { name: "View picture-1.png" }).waitFor();
    expect(await output.getByRole("cell", { name: "12" }).innerHTML()).toBe("12");
    expect(await output.getByRole("link", { name: "numbers.csv" }).count()).toBe(1);
    expect(await page.evaluate(() => "ran" in globalThis)).toBe(false);
    expect(await run(page, 3)).toContain("Hello you");
    expect(await run(page, 4)).toContain("The package “numpy” isn’t available here.");
    expect(index.asked).toEqual(["/pyodide-lock.json", "/greeter-1.0-py3-none-any.whl"]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test("ends loops and endless allocations while the page lives, and reaches neither page nor server", async () => {
    const { page } = await open(
      await makeChat(
        "parts = []\nwhile True: parts.append(bytearray(10_000_000))",
        "import js\nfrom pyodide.http import pyfetch\nasync def look(url):\n    try:\n        return (await pyfetch(url)).status\n    except Exception as error:\n        return type(error).__name__\nprint(js.location.origin, await look('/api/v1/auths'), await look(js.location.href), 'document' in dir(js))",
        "while True: print('flood' * 20)",
        "while True: pass",
        "print('alive')",
      ),
    );
    expect(await run(page, 0)).toContain("MemoryError");
    expect(await run(page, 1)).toMatch(/null \w+ \w+ False/);
    expect(await run(page, 2)).toMatch(/output truncated|printed more/);
    await page.getByRole("button", { name: "Run", exact: true }).nth(3).click();
    const shown = await page.evaluate(async () => {
      const at = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return performance.now() - at;
    });
    expect(shown).toBeLessThan(500);
    await page.getByText("The code ran longer than 3 seconds").waitFor();
    expect(await run(page, 4)).toContain("alive");
    await page.close();
  });

  test("runs what a model asks for in its own session, and in no other", async () => {
    const { app, upstream } = world;
    upstream.always("/chat/completions", text("Done."));
    const { page } = await open(await makeChat("1"));
    const sessionId = await sessionOf(page);

    /** The stored result of a call that a model makes in a new chat. */
    const ask = async (session: string, code: string) => {
      const { chatId, id } = await start(session, code);
      await ended(chatId);
      const { messages: stored } = (await app.call(`GET /api/v1/chats/${chatId}`, { token })).body.chat
        .history;
      return stored[id].output.find(({ type }: { type: string }) => type === "function_call_output");
    };
    const countFiles = async () => (await app.call("GET /api/v1/files/", { token })).body.total as number;
    const before = await countFiles();
    const result = await ask(sessionId, png.replace("display(Table())", "print('in the browser')"));
    expect(JSON.parse(result.output[0].text)).toMatchObject({
      status: "success",
      stdout: "in the browser\n",
    });
    expect(result.files.map(({ name }: { name: string }) => name).toSorted()).toEqual([
      "numbers.csv",
      "picture-1.png",
    ]);
    // What the browser uploaded is not there twice.
    expect(await countFiles()).toBe(before + 2);
    const stranger = await app.user();
    const client = await connectPlain(app.url, {
      token: stranger.token,
      answer: () => ({ stdout: "stolen" }),
    });
    const refused = await ask(await client.sessionId(), "print(1)");
    expect(refused.output[0].text).toContain("not connected");
    expect(client.events.filter((event) => event.data?.data?.type === "execute:python")).toEqual([]);
    client.close();
    await page.close();
  });

  test("ends the code of a reply that is stopped", async () => {
    world.upstream.always("/chat/completions", text("Done."));
    const { page } = await open(await makeChat("1"));
    const sessionId = await sessionOf(page);
    await page.evaluate(() =>
      addEventListener("message", ({ data }) => {
        if (data?.type === "started") {
          Object.assign(globalThis, { hasStarted: true });
        }
      }),
    );
    const { chatId } = await start(sessionId, "while True: pass");
    const python = page.locator("iframe[title=Python]");
    await python.waitFor({ state: "attached" });
    await page.waitForFunction(() => "hasStarted" in globalThis);
    await world.app.call(`POST /api/tasks/chat/${chatId}/stop`, { token });
    await python.waitFor({ state: "detached", timeout: 5_000 });
    const next = await start(sessionId, "print('free')");
    await ended(next.chatId);
    const { messages } = (await world.app.call(`GET /api/v1/chats/${next.chatId}`, { token })).body.chat
      .history;
    expect(JSON.stringify(messages[next.id].output)).toContain("free");
    await page.close();
  });

  test("runs code that a model writes into its text, and shows it", async () => {
    const { upstream } = world;
    const isReply = ({ body }: { body?: { stream?: boolean } }) => body?.stream === true;
    const code = "import sys\nprint('in', sys.platform)\nsum(range(10))";
    upstream.reply(
      isReply,
      text(`I count.\n<code_interpreter type="code" lang="python">\n${code}\n</code_interpreter>`),
    );
    upstream.reply(isReply, text("It is 45."));
    const meta = { defaultFeatureIds: ["code_interpreter"] };
    const kept = {
      id: "alpha",
      name: "Alpha",
      base_model_id: null,
      meta,
      params: { function_calling: "legacy" },
    };
    expect((await world.app.call("POST /api/v1/models/create", { token, body: kept })).status).toBe(200);
    const { page, problems } = await open("/?model=alpha");
    await write(page.getByRole("textbox", { name: /Message/ }), "Count");
    await page.keyboard.press("Enter");
    const shown = page.getByRole("region", { name: "Code that was run" });
    await shown.getByText("in emscripten").waitFor();
    await page.getByText("It is 45.", { exact: true }).waitFor();
    expect(await shown.getByRole("group", { name: "Output" }).innerText()).toMatch(/^in emscripten\s+45$/);
    expect(await shown.getByRole("status").innerText()).toMatch(/s$/);
    expect(await page.getByText("<code_interpreter").count()).toBe(0);
    expect(problems).toEqual([]);
    await page.close();
  });
});
