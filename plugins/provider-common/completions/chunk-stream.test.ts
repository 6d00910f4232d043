import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { AppError, ProviderError } from "#kernel/errors.ts";
import { readChunks } from "./chunk-stream.ts";

const live = new AbortController().signal;

function open(body: Readable, softLimit?: number) {
  const skipped: string[] = [];
  const chunks = readChunks(body, { softLimit, signal: live, skipped: (reason) => skipped.push(reason) });
  return { chunks, skipped };
}

function frame(content: string, extra = {}): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], ...extra })}\n\n`;
}

/** Reads to the end; what was thrown comes last. */
async function readAll(chunks: AsyncIterable<readonly { choices?: { delta: { content?: unknown } }[] }[]>) {
  const texts: unknown[] = [];
  try {
    for await (const batch of chunks) {
      texts.push(...batch.map((chunk) => chunk.choices?.[0]?.delta.content));
    }
  } catch (error) {
    texts.push(error);
  }
  return texts;
}

describe("reading chunks", () => {
  it("gives one batch a socket read", async () => {
    const body = new PassThrough();
    const { chunks } = open(body);
    body.write(frame("a") + frame("b"));
    expect((await chunks.next()).value).toHaveLength(2);
    body.write(frame("c"));
    expect((await chunks.next()).value).toHaveLength(1);
    body.end("data: [DONE]\n\n");
    expect((await chunks.next()).done).toBe(true);
    expect((await chunks.next()).done).toBe(true);
  });

  it("lets the loop turn between parts of a large read", async () => {
    const body = new PassThrough({ highWaterMark: 1e6 });
    body.end(frame("x").repeat(200));
    let turns = 0;
    const tick = () => (turns++, immediate.unref?.(), (immediate = setImmediate(tick)));
    let immediate = setImmediate(tick);
    const sizes: number[] = [];
    for await (const batch of open(body).chunks) {
      sizes.push(batch.length);
    }
    clearImmediate(immediate);
    expect(sizes).toEqual([64, 64, 64, 8]);
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it("ends at [DONE], with or without it, and reads nothing behind it", async () => {
    expect(
      await readAll(open(Readable.from([Buffer.from(`${frame("a")}data: [DONE]\n\n${frame("b")}`)])).chunks),
    ).toEqual(["a"]);
    expect(await readAll(open(Readable.from([Buffer.from(frame("a"))])).chunks)).toEqual(["a"]);
    expect(await readAll(open(Readable.from([Buffer.from(frame("a").trimEnd())])).chunks)).toEqual(["a"]);
  });

  it("leaves out broken and foreign frames and goes on", async () => {
    const junk =
      'data: {"choices":[{\n\ndata: 7\n\nevent: execute\ndata: {"type":"execute","code":"x"}\n\ndata: {"event":{}}\n\n';
    const { chunks, skipped } = open(Readable.from([Buffer.from(frame("a") + junk + frame("b"))]));
    expect(await readAll(chunks)).toEqual(["a", "b"]);
    expect(skipped).toEqual(["broken"]);
  });

  it("splits frames whose blank line was forgotten", async () => {
    const glued = frame("a").trimEnd() + "\n" + frame("b");
    expect(await readAll(open(Readable.from([Buffer.from(glued)])).chunks)).toEqual(["a", "b"]);
  });

  it("drops oversized frames, never handing out an empty one", async () => {
    const { chunks, skipped } = open(
      Readable.from([Buffer.from(frame("a") + frame("b".repeat(500)) + frame("c"))]),
      200,
    );
    expect(await readAll(chunks)).toEqual(["a", "c"]);
    expect(skipped).toEqual(["oversized"]);
  });

  it("gives the chunks before an error frame, then the error", async () => {
    const error = { error: { message: "overloaded", code: 529 } };
    const texts = await readAll(
      open(Readable.from([Buffer.from(`${frame("a")}data: ${JSON.stringify(error)}\n\n${frame("b")}`)]))
        .chunks,
    );
    expect(texts).toEqual(["a", expect.any(ProviderError)]);
    expect(texts[1]).toMatchObject({ status: 529, body: JSON.stringify(error) });
  });

  it("puts what came in odd types right", async () => {
    const odd = {
      choices: [
        null,
        {
          delta: {
            content: [
              { type: "thinking", thinking: [{ text: "hm" }] },
              { type: "text", text: "yes" },
            ],
          },
        },
      ],
    };
    const calls = {
      choices: [{ index: 0, delta: { tool_calls: [{ id: "c", function: { name: "f" } }, 3] } }],
    };
    const usage = { usage: { prompt_tokens: 1 } };
    const text = [odd, calls, usage].map((each) => `data: ${JSON.stringify(each)}\n\n`).join("");
    const [batch] = await Array.fromAsync(open(Readable.from([Buffer.from(text)])).chunks);
    expect(batch).toEqual([
      { choices: [{ index: 0, delta: { content: "yes", reasoning_content: "hm" } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c", function: { name: "f" } }] } }] },
      { choices: [], usage: { prompt_tokens: 1 } },
    ]);
  });
});

describe("a body that breaks off", () => {
  it("is an upstream error after what came before it", async () => {
    const body = new PassThrough();
    body.write(frame("a"));
    setImmediate(() => body.destroy(new Error("ECONNRESET")));
    const texts = await readAll(open(body).chunks);
    expect(texts).toEqual(["a", expect.any(AppError)]);
    expect(texts[1]).toMatchObject({ code: "upstream" });
  });

  it("is a timeout when the silence was too long", async () => {
    const body = new PassThrough();
    setImmediate(() => body.destroy(Object.assign(new Error("silence"), { code: "UND_ERR_BODY_TIMEOUT" })));
    expect(await readAll(open(body).chunks)).toEqual([expect.objectContaining({ code: "timeout" })]);
  });

  it("is noticed when it broke before anybody read", async () => {
    const body = new PassThrough();
    body.on("error", () => {});
    body.destroy(new Error("gone"));
    await new Promise((resolve) => body.once("close", resolve));
    expect(await readAll(open(body).chunks)).toEqual([expect.objectContaining({ code: "upstream" })]);
  });

  it("is an upstream error when it was no event stream at all", async () => {
    expect(await readAll(open(Readable.from([Buffer.from("<html>sign in</html>")])).chunks)).toEqual([
      expect.objectContaining({ code: "upstream" }),
    ]);
  });

  it("is destroyed when the reader leaves, even while it waits", async () => {
    const body = new PassThrough();
    const { chunks } = open(body);
    const waiting = chunks.next();
    await chunks.return!();
    expect((await waiting).done).toBe(true);
    expect(body.destroyed).toBe(true);
  });
});

describe("batches that are wanted large", () => {
  const openLarge = (body: Readable) =>
    readChunks(body, { softLimit: undefined, signal: live, skipped: () => undefined, atLeast: 3 });

  it("hold events until there are enough, whatever pieces they come in", async () => {
    const body = new PassThrough();
    const chunks = openLarge(body);
    const first = chunks.next();
    for (const text of ["a", "b", "c"]) {
      body.write(frame(text));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await first).value).toHaveLength(3);
    body.end();
  });

  it("hold nothing for long", async () => {
    const body = new PassThrough();
    const chunks = openLarge(body);
    const first = chunks.next();
    body.write(frame("a"));
    expect((await first).value).toHaveLength(1);
    const second = chunks.next();
    body.write(frame("b"));
    body.end("data: [DONE]\n\n");
    expect((await second).value).toHaveLength(1);
    expect((await chunks.next()).done).toBe(true);
  });
});
