import { expect, it } from "vitest";
import { holdClock, passTime } from "#test/support/clock/held-clock.ts";
import { ReplyStream } from "./reply-stream.ts";

const times = { idleMs: 300_000, commentMs: 15_000 };

holdClock();

/** What a client is sent, as it grows. */
function follow(stream: ReplyStream): { sent: unknown[]; over: Promise<void> } {
  const sent: unknown[] = [];
  const over = (async () => {
    for await (const part of stream.parts(times)) {
      sent.push(part);
    }
  })();
  return { sent, over };
}

it("a stream stays open for as long as something is said now and then, with a comment in each silence", async () => {
  const stream = new ReplyStream();
  const { sent, over } = follow(stream);
  for (let count = 1; count <= 12; count += 1) {
    await passTime(20_000);
    stream.text(`${count} `);
    await passTime(0);
  }
  // More has passed in all than a stream may be silent.
  await passTime(100_000);
  stream.end();
  await over;
  expect(sent).not.toContain("idle");
  expect(sent.filter((part) => part === "comment").length).toBeGreaterThanOrEqual(12);
  expect(stream.content).toBe("1 2 3 4 5 6 7 8 9 10 11 12 ");
});

it("a stream ends after its time without output, and comments do not count as output", async () => {
  const stream = new ReplyStream();
  stream.text("Begun.");
  const { sent, over } = follow(stream);
  await passTime(times.idleMs - 1_000);
  expect(sent).not.toContain("idle");
  await passTime(2_000);
  await over;
  expect(sent[0]).toEqual({ kind: "content", text: "Begun." });
  expect(sent.slice(1, -1).every((part) => part === "comment")).toBe(true);
  expect(sent.at(-1)).toBe("idle");
});
