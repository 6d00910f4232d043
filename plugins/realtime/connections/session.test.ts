import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { closing } from "#kernel/sockets/closing.ts";
import { OutgoingEvent } from "./outgoing.ts";
import { type Link, Session } from "./session.ts";

const facts = { method: "GET", path: "/ws", address: "127.0.0.1" };
const limits = { waitingBytes: 100, slowGraceMs: 50, mostBytes: 1_000, answerMs: 50, openCalls: 2 };

/** A session whose reader leaves as much unread as the test says. */
function open() {
  const seen = { unread: 0, sent: 0, ended: undefined as unknown, calls: [] as number[] };
  const link: Link = {
    transport: "plain",
    send() {
      seen.sent += 1;
      return seen.unread;
    },
    toFrame: ({ json }) => Buffer.from(json),
    toQuestion(id) {
      seen.calls.push(id);
      return "";
    },
    waiting: () => seen.unread,
    close: (why) => (seen.ended = why),
  };
  return { seen, session: new Session(link, facts, limits) };
}
const event = new OutgoingEvent("events", JSON.stringify("x".repeat(1_100)));

it("a burst that is read a moment later harms nobody", async () => {
  const { seen, session } = open();
  seen.unread = 500;
  session.deliver(event);
  session.deliver(event);
  seen.unread = 0;
  await pause(80);
  expect(seen).toMatchObject({ sent: 2, ended: undefined });
});

it("a reader that stays behind is cut off, also when nothing more is sent", async () => {
  const { seen, session } = open();
  seen.unread = 500;
  session.deliver(event);
  await pause(80);
  expect(seen.ended).toBe(closing.slow);
  session.deliver(event);
  expect(seen.sent).toBe(1);
});

it("what is too much by any measure does not wait at all", () => {
  const { seen, session } = open();
  seen.unread = 1_001;
  session.deliver(event);
  expect(seen.ended).toBe(closing.slow);
});

it("an answer does not count, but what comes behind it does", async () => {
  const { seen, session } = open();
  seen.unread = 5_000;
  session.acknowledge("x".repeat(5_000));
  session.deliver(new OutgoingEvent("events", "{}"));
  await pause(80);
  expect(seen.ended).toBeUndefined();
  session.deliver(event);
  expect(seen.ended).toBe(closing.slow);
});

it("who does not read its answers is cut off", async () => {
  const { seen, session } = open();
  session.acknowledge("{}");
  await session.whenWritable();
  expect(seen.ended).toBeUndefined();
  seen.unread = 500;
  await session.whenWritable();
  expect(seen.ended).toBe(closing.slow);
});

it("questions have an end: by answer, by limit, by leaving", async () => {
  const { seen, session } = open();
  const first = session.call("ask", "{}");
  const second = session.call("ask", "{}");
  await expect(session.call("ask", "{}")).rejects.toMatchObject({ code: "rate_limited" });
  session.answer(seen.calls[0] as number, "yes");
  session.answer(999, "nobody asked");
  expect(await first).toBe("yes");
  session.end(closing.stopping);
  await expect(second).rejects.toThrow("Client session disconnected.");
  await expect(session.call("ask", "{}")).rejects.toThrow("Client session disconnected.");
});
