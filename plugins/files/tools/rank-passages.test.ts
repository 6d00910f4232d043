import { expect, it } from "vitest";
import { rankPassages, toPassages } from "./rank-passages.ts";

const { signal } = new AbortController();
const filler = "The miller went to market and came back with bread. ".repeat(60);
const rank = (texts: Record<string, string>, query: string, count = 3) => {
  async function* all() {
    for (const [fileId, text] of Object.entries(texts)) {
      yield { fileId, text };
    }
  }
  return rankPassages(all(), { query, count, signal });
};

it("puts the passage with the rarest words first", async () => {
  const texts = { a: filler, b: `${filler}\n\nThe sluice gate rusts in winter.\n\n${filler}` };
  const [best, ...others] = await rank(texts, "Why does the sluice rust?");
  expect(best).toMatchObject({ fileId: "b", content: expect.stringContaining("sluice gate rusts") });
  expect(best!.score).toBeGreaterThan(others[0]!.score);
  expect(best!.score).toBeLessThanOrEqual(1);
  expect(await rank(texts, "astronaut")).toEqual([]);
  expect(await rank(texts, "?!")).toEqual([]);
});

it("reads scripts without spaces", async () => {
  expect(await rank({ a: "明日の天気は晴れです。", b: "水車小屋" }, "天気")).toMatchObject([{ fileId: "a" }]);
});

it("cuts at borders and loses nothing", () => {
  const text = Array.from({ length: 300 }, (_, at) => `Sentence number ${at} is here.`).join(" ");
  const passages = [...toPassages(text)];
  expect(passages.every((passage) => passage.length <= 1_200)).toBe(true);
  for (let at = 0; at < 300; at += 1) {
    expect(passages.some((passage) => passage.includes(`number ${at} is here.`))).toBe(true);
  }
  expect([...toPassages("x".repeat(5_000))].length).toBeLessThan(7);
});
