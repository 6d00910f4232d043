import { describe, expect, it } from "vitest";
import type { Chunk } from "#kernel/completion/chunk.ts";
import type { CompletionRequest } from "#kernel/completion/request.ts";
import { createLogger } from "#kernel/log.ts";
import type { Conversation, Filter, FilterContext, StreamGroup } from "#kernel/pipeline/filter.ts";
import { createPipeline } from "./pipeline.ts";
import { hasStreamHooks, openStreamHooks } from "./stream.ts";

const lines: string[] = [];
const log = createLogger({
  level: "INFO",
  format: "json",
  stream: { write: (line: string) => lines.push(line) },
});
const principal = {
  userId: "u1",
  role: "user",
  name: "Ana",
  email: "ana@example.test",
  groupIds: [],
  permissions: {},
  credential: "session",
  session: null,
} as const;
const request: CompletionRequest = { model: "m", messages: [{ role: "user", content: "hi" }] };
const context: FilterContext = {
  principal,
  modelId: "m",
  modelMeta: {},
  chatId: undefined,
  messageId: undefined,
  sessionId: undefined,
  metadata: {},
  request,
  signal: new AbortController().signal,
};
const selection = { principal, modelId: "m", modelIds: ["m"], modelMeta: {}, filterIds: [] };

const filter = (id: string, priority: number, hooks: Partial<Filter> = {}): Filter => ({
  id,
  name: id,
  priority,
  ...hooks,
});
const always = (entry: Filter) => ({ entry, isEnabled: () => true });

describe("choosing filters", () => {
  it("orders by priority, then by id, over native filters and sources", async () => {
    const source = { id: "source", select: () => Promise.resolve([filter("b", 1), filter("z", 0)]) };
    const pipeline = createPipeline(
      [always(filter("c", 1)), { entry: source, isEnabled: () => true }, always(filter("a", 1))],
      log,
    );
    expect((await pipeline.choose(selection)).map(({ id }) => id)).toEqual(["z", "a", "b", "c"]);
  });

  it("takes only filters that look at tasks for a task, wherever they come from", async () => {
    const looking = { tasks: true };
    const source = { id: "source", select: () => [filter("c", 0, looking), filter("d", 0)] };
    const pipeline = createPipeline(
      [always(filter("a", 0, looking)), always(filter("b", 0)), { entry: source, isEnabled: () => true }],
      log,
    );
    const chosen = await pipeline.choose({ ...selection, task: "title_generation" });
    expect(chosen.map(({ id }) => id)).toEqual(["a", "c"]);
  });

  it("leaves the filters of a plugin that is switched off out", async () => {
    let isOn = true;
    const pipeline = createPipeline([{ entry: filter("a", 0), isEnabled: () => isOn }], log);
    expect(await pipeline.choose(selection)).toHaveLength(1);
    isOn = false;
    expect(await pipeline.choose(selection)).toHaveLength(0);
  });
});

describe("inlet", () => {
  it("gives each filter a copy, keeps the value of one that returns nothing, and hands results on", async () => {
    const mutating = filter("a", 0, {
      inlet(body) {
        body.messages.push({ role: "user", content: "changed in place" });
        return undefined;
      },
    });
    const adding = filter("b", 1, { inlet: (body) => ({ ...body, temperature: 0.5 }) });
    const result = await createPipeline([], log).inlet([mutating, adding], request, context);
    expect(result).toEqual({ ...request, temperature: 0.5 });
    expect(request.messages).toHaveLength(1);
  });

  it("ends the request with the filter's own message", async () => {
    const refusing = filter("a", 0, {
      inlet() {
        throw new Error("No secrets, please.");
      },
    });
    await expect(createPipeline([], log).inlet([refusing], request, context)).rejects.toMatchObject({
      code: "invalid",
      detail: "No secrets, please.",
    });
  });
});

describe("a hook that returns nonsense", () => {
  const nonsense = (hooks: Record<string, unknown>) => filter("odd", 0, hooks as Partial<Filter>);

  it.each([
    ["a text", "hi"],
    ["a request without messages", { model: "m" }],
    ["a request with messages that are none", { model: "m", messages: [null] }],
    ["a request with tools that are no list", { model: "m", messages: [], tools: 5 }],
  ])("%s ends the request with the filter's name", async (_name, value) => {
    const inlet = createPipeline([], log).inlet([nonsense({ inlet: () => value })], request, context);
    await expect(inlet).rejects.toMatchObject({
      code: "invalid",
      detail: "The filter odd returned something that is no request.",
    });
  });

  it("keeps the last good conversation", async () => {
    const conversation: Conversation = { model: "m", messages: [] };
    expect(
      await createPipeline([], log).outlet([nonsense({ outlet: () => "done" })], conversation, context),
    ).toEqual(conversation);
    expect(lines.join("")).toContain("An outlet hook returns the conversation");
  });

  it.each([
    ["an async hook", async (piece: unknown) => piece],
    ["an async hook that fails", () => Promise.reject(new Error("late"))],
    ["a text", () => "text"],
  ])("%s does not reach the client as a chunk", async (_name, stream) => {
    const piece = { choices: [{ index: 0, delta: { content: "a" } }] };
    const hooks = await openStreamHooks([nonsense({ stream })], context, log);
    expect(hooks?.push([piece])).toEqual([piece]);
    expect(lines.join("")).toContain("is not async");
  });
});

describe("outlet", () => {
  it("logs a failing filter and keeps the last good value", async () => {
    const conversation: Conversation = {
      model: "m",
      messages: [{ id: "1", role: "assistant", content: "hello" }],
    };
    const failing = filter("bad", 0, {
      outlet(value) {
        value.messages.length = 0;
        throw new Error("broken outlet");
      },
    });
    const signing = filter("good", 1, {
      outlet: (value) => ({
        ...value,
        messages: value.messages.map((message) => ({ ...message, content: `${String(message.content)}!` })),
      }),
    });
    const result = await createPipeline([], log).outlet([failing, signing], conversation, context);
    expect(result.messages).toEqual([{ id: "1", role: "assistant", content: "hello!" }]);
    expect(lines.join("")).toContain("broken outlet");
  });
});

describe("stream filters", () => {
  const chunk = { choices: [{ index: 0, delta: { content: "a" } }] };

  it("are nothing at all when no filter looks at chunks", async () => {
    expect(hasStreamHooks([filter("a", 0)])).toBe(false);
    expect(await openStreamHooks([filter("a", 0)], context, log)).toBeUndefined();
  });

  it("drop a chunk on null and keep it on undefined", async () => {
    const dropping = await openStreamHooks([filter("a", 0, { stream: () => null })], context, log);
    const keeping = await openStreamHooks([filter("a", 0, { stream: () => undefined })], context, log);
    expect([dropping?.push([chunk]), keeping?.push([chunk])]).toEqual([[], [chunk]]);
  });

  it("leave a failing filter out of the rest of the run", async () => {
    let calls = 0;
    const failing = filter("bad", 0, {
      stream() {
        calls += 1;
        throw new Error("broken stream");
      },
    });
    const hooks = await openStreamHooks([failing], context, log);
    expect([hooks?.push([chunk]), hooks?.push([chunk]), calls]).toEqual([[chunk], [chunk], 1]);
  });

  it("keep their order, and neighbours of one group are opened together", async () => {
    const opened: string[][] = [];
    let closed = 0;
    const streamGroup: StreamGroup = {
      open(members) {
        opened.push(members.map(({ id }) => id));
        return { push: (batch) => batch.map((each) => signed(each, members.length)), close: () => closed++ };
      },
    };
    const native = (id: string) => filter(id, 0, { stream: (each) => signed(each, id) });
    const filters = [
      native("a"),
      filter("b", 0, { streamGroup }),
      filter("c", 0, { streamGroup }),
      native("d"),
    ];
    const hooks = await openStreamHooks([...filters, filter("e", 0, { streamGroup })], context, log);
    expect(hooks?.push([{ path: "" }])).toEqual([{ path: "a2d1" }]);
    expect(opened).toEqual([["b", "c"], ["e"]]);
    hooks?.close();
    expect(closed).toBe(2);
  });

  it("that cannot be opened are logged and left out", async () => {
    const streamGroup: StreamGroup = {
      open() {
        throw new Error("no room");
      },
    };
    const filters = [
      filter("b", 0, { streamGroup }),
      filter("a", 0, { stream: (each) => signed(each, "a") }),
    ];
    const hooks = await openStreamHooks(filters, context, log);
    expect(hooks?.push([{ path: "" }])).toEqual([{ path: "a" }]);
    expect(lines.join("")).toContain("no room");
  });
});

function signed(chunk: Chunk, name: unknown): Chunk {
  return { ...chunk, path: `${String(chunk["path"])}${String(name)}` };
}
