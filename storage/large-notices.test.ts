import { afterEach, expect, it, vi } from "vitest";
import { type LargeNotices, noticeMigrations, openLargeNotices } from "./large-notices.ts";
import { openTestDatabase } from "./testing.ts";

const sets = [{ owner: "notices", migrations: noticeMigrations }];
const closers: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) {
    await close();
  }
});

async function open() {
  const database = await openTestDatabase(sets);
  const heard: string[] = [];
  const notices: LargeNotices = openLargeNotices(database, { channel: "big", log: () => {} });
  let gaps = 0;
  await notices.listen(
    (text) => heard.push(text),
    () => (gaps += 1),
  );
  closers.push(() => database.close(), notices.close);
  return { database, notices, heard, gaps: () => gaps };
}

it("texts of any size arrive in the order of sending", async () => {
  const { notices, heard } = await open();
  const sizes = [1, 7_900, 10, 100_000, 20, 1_000_000, 30, 3_950, 7_898];
  const texts = sizes.map((size, at) => `${at}"ä\n`.padEnd(size, "x"));
  for (const text of texts) {
    await notices.send(text);
  }
  await vi.waitFor(() => expect(heard.length).toBe(texts.length));
  expect(heard.map((text) => text.length)).toEqual(texts.map((text) => text.length));
  expect(heard).toEqual(texts);
});

it("a text that was swept before it was read counts as a gap, and what follows still comes", async () => {
  const { database, notices, heard, gaps } = await open();
  await database.notify("big", { kept: 4711 });
  await notices.send("after");
  await vi.waitFor(() => expect(heard).toEqual(["after"]));
  expect(gaps()).toBe(1);
});
