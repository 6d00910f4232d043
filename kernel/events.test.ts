import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate as immediate } from "node:timers/promises";
import { beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import { isJustNow } from "#test/support/clock/now.ts";
import { createEvents, defineEvent, type Events, type SystemEvent } from "./events.ts";
import { createLogger } from "./log.ts";

let lines: string[];
let events: Events;

beforeEach(() => {
  lines = [];
  const stream = { write: (line: string) => lines.push(line) };
  events = createEvents(createLogger({ level: "DEBUG", format: "json", stream }));
});

describe("emit", () => {
  it("tells the handlers of the name, until they are taken off", () => {
    const seen: unknown[] = [];
    const off = events.on("cache:dropped", (data) => void seen.push(data));
    events.on("cache:other", () => void seen.push("other"));
    events.emit("cache:dropped", 1);
    off();
    off();
    events.emit("cache:dropped", 2);
    events.emit("nobody:listens", 3);
    expect(seen).toEqual([1]);
  });

  it("goes on when a handler throws or rejects, and logs it", async () => {
    const seen: string[] = [];
    events.on("x:y", () => {
      throw new Error("at once");
    });
    events.on("x:y", async () => {
      await immediate();
      throw new Error("later");
    });
    events.on("x:y", () => void seen.push("told"));
    events.emit("x:y", null);
    expect(seen).toEqual(["told"]);
    await immediate();
    await immediate();
    const logged = lines.map((line) => JSON.parse(line));
    expect(logged.map(({ level, event, err }) => [level, event, err.message])).toEqual([
      ["error", "x:y", "at once"],
      ["error", "x:y", "later"],
    ]);
  });

  it("does not reach handlers that are added while it runs", () => {
    let told = 0;
    events.on("x:y", () => {
      events.on("x:y", () => void (told += 1));
    });
    events.emit("x:y", null);
    expect(told).toBe(0);
    events.emit("x:y", null);
    expect(told).toBe(1);
  });

  it("runs handlers in the context of who subscribed, not of who emits", () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    events.on("x:y", () => void seen.push(storage.getStore()));
    storage.run("transaction", () => events.emit("x:y", null));
    expect(seen).toEqual([undefined]);
  });
});

describe("announce", () => {
  it("makes an envelope without secrets and tells those who want every system event", () => {
    const one: SystemEvent[] = [];
    const all: SystemEvent[] = [];
    events.on("user.created", (event) => void one.push(event));
    const off = events.onSystemEvent((event) => void all.push(event));
    const data = { name: "A", password: "hunter2", nested: [{ api_key: "k" }] };
    const sent = events.announce("user.created", { actor: null, subject: { type: "user", id: "1" }, data });
    events.announce("user.deleted", { actor: { id: "2" }, subject: null });
    events.emit("config:changed", { key: "x" });
    off();
    events.announce("user.deleted", { actor: null, subject: null });
    expect(one).toEqual([sent]);
    expect(all.map(({ event }) => event)).toEqual(["user.created", "user.deleted"]);
    expect(sent).toMatchObject({
      event: "user.created",
      actor: null,
      subject: { type: "user", id: "1" },
      data: { name: "A", password: "[redacted]", nested: [{ api_key: "[redacted]" }] },
    });
    expect(sent.id).toMatch(/^[\da-f-]{36}$/);
    expect(isJustNow(sent.created_at)).toBe(true);
    expect(data.password).toBe("hunter2");
  });
});

describe("types", () => {
  it("follow from the name", () => {
    const changed = defineEvent<{ key: string }>("config:changed");
    const seen: string[] = [];
    events.on(changed, ({ key }) => void seen.push(key));
    events.emit(changed, { key: "a" });
    expect(seen).toEqual(["a"]);
    events.on("chat.created", (data) => void expectTypeOf(data).toEqualTypeOf<SystemEvent>());
    events.on("plain", (data) => void expectTypeOf(data).toEqualTypeOf<unknown>());
    // @ts-expect-error -- a declared name carries what it declares
    const wrong = () => events.emit(changed, { key: 1 });
    expect(wrong).toBeTypeOf("function");
  });
});
