import { describe, expect, it } from "vitest";
import { createElo, type Rated } from "./elo.ts";

const rated = (modelId: string, siblings: string[], rating: 1 | -1, tags: string[] = []): Rated => ({
  modelId,
  siblings,
  rating,
  tags,
});

function board(...ratings: Rated[]) {
  const elo = createElo();
  ratings.forEach(elo.add);
  return elo.entries();
}

/** Each model's rating, wins and losses, the best first. */
const standings = (...ratings: Rated[]) =>
  board(...ratings).map(({ model_id, rating, won, lost }) => `${model_id} ${rating} ${won}:${lost}`);

describe("ratings of models", () => {
  it.each<[string, Rated[], string[]]>([
    ["nothing", [], []],
    ["a reply that stood alone", [rated("a", [], 1)], []],
    ["a model compared with itself", [rated("a", ["a"], 1)], []],
    [
      "a win between equals moves half of the most there is",
      [rated("a", ["b"], 1)],
      ["a 1016 1:0", "b 984 0:1"],
    ],
    ["a thumb down is a loss", [rated("a", ["b"], -1)], ["b 1016 1:0", "a 984 0:1"]],
    ["a sibling that is named twice is one rival", [rated("a", ["b", "b"], 1)], ["a 1016 1:0", "b 984 0:1"]],
    [
      "a win that was likely moves less",
      [rated("a", ["b"], 1), rated("a", ["b"], 1)],
      ["a 1031 2:0", "b 969 0:2"],
    ],
    ["an upset moves more", [rated("a", ["b"], 1), rated("a", ["b"], -1)], ["b 1001 1:1", "a 999 1:1"]],
    ["every rival is one comparison", [rated("a", ["b", "c"], 1)], ["a 1031 2:0", "c 985 0:1", "b 984 0:1"]],
  ])("%s", (_name, ratings, expected) => {
    expect(standings(...ratings)).toEqual(expected);
  });

  it("keep the sum of all points", () => {
    const ids = ["a", "b", "c", "d"];
    const many = Array.from({ length: 500 }, (_, at) =>
      rated(ids[at % 4] as string, [ids[(at * 7 + 1) % 4] as string], at % 3 === 0 ? -1 : 1),
    );
    const sum = board(...many).reduce((total, { rating }) => total + rating, 0);
    expect(Math.abs(sum - 4000)).toBeLessThan(4);
  });

  it("count a model's most frequent tags, one of each rating", () => {
    const tags = ["x", "x", "y"];
    const [first] = board(rated("a", ["b"], 1, tags), rated("a", ["b"], 1, ["y", "z", "1", "2", "3", "4"]));
    expect(first?.top_tags).toEqual([
      { tag: "y", count: 2 },
      { tag: "1", count: 1 },
      { tag: "2", count: 1 },
      { tag: "3", count: 1 },
      { tag: "4", count: 1 },
    ]);
  });

  it("stop taking in models that people make up", () => {
    const entries = board(...Array.from({ length: 9_000 }, (_, at) => rated(`a${at}`, [`b${at}`], 1)));
    expect(entries.length).toBe(5_000);
  });
});
