import { expect, it } from "vitest";
import { findRank, summarize } from "./ranks.ts";

const at = (sourceId: string, start: number, end: number, fileId?: string) => ({
  sourceId,
  fileId,
  start,
  end,
});
const wanted = (source_id: string, start: number, end: number) => [
  { source_id, name: "a.md", start, end, excerpt: "" },
];

it("finds the place of an expected passage, however the text was cut", () => {
  const passages = [at("a", 0, 100), at("b", 100, 200), at("c", 400, 500, "file")];
  expect(findRank(passages, wanted("b", 100, 200))).toBe(2);
  expect(findRank(passages, wanted("b", 90, 1000))).toBe(2);
  expect(findRank(passages, wanted("b", 120, 140))).toBe(2);
  expect(findRank(passages, wanted("b", 160, 240))).toBe(2);
  expect(findRank(passages, wanted("b", 180, 280))).toBeNull();
  expect(findRank(passages, wanted("b", 200, 300))).toBeNull();
  expect(findRank(passages, wanted("x", 100, 200))).toBeNull();
  expect(findRank(passages, wanted("file", 400, 500))).toBe(3);
  expect(findRank(passages, [...wanted("x", 0, 1), ...wanted("a", 0, 100)])).toBe(1);
});

it("counts what stands among the first, and tells what moved", () => {
  const result = (question_id: string, rank: number | null) => ({
    question_id,
    question: question_id,
    rank,
    ms: 1,
  });
  const before = { k: 3, results: [result("a", 1), result("b", null), result("c", 4)] };
  const now = { k: 3, results: [result("a", 1), result("b", 2), result("c", 5), result("d", 3)] };
  expect(summarize(now, before)).toEqual({
    hits: 3,
    hit_rate: 0.75,
    changes: [
      { question_id: "b", question: "b", before: null, now: 2 },
      { question_id: "c", question: "c", before: 4, now: 5 },
    ],
  });
  expect(summarize({ k: 3, results: [] }, undefined)).toEqual({ hits: 0, hit_rate: null, changes: [] });
});
