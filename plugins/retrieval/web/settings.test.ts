import { expect, it } from "vitest";
import { emptySettings, findProblems, toSettings } from "./settings.ts";

it("leaves out what is not chosen, and reads numbers as people write them", () => {
  expect(toSettings(emptySettings())).toEqual({});
  expect(toSettings({ method: "both", keywordWeight: "0,3", topK: "8", threshold: " .2 " })).toEqual({
    hybrid: true,
    keyword_weight: 0.3,
    top_k: 8,
    threshold: 0.2,
  });
  expect(toSettings({ ...emptySettings(), method: "keyword", keywordWeight: "0.2" })).toEqual({
    hybrid: true,
    keyword_weight: 1,
  });
  expect(toSettings({ ...emptySettings(), method: "vector", keywordWeight: "0.2" })).toEqual({
    hybrid: false,
  });
});

it("names the numbers that are none", () => {
  const none = { keywordWeight: undefined, topK: undefined, threshold: undefined };
  expect(findProblems(emptySettings())).toEqual(none);
  expect(findProblems({ method: "both", keywordWeight: "2", topK: "0", threshold: "x" })).toEqual({
    keywordWeight: "share",
    topK: "count",
    threshold: "share",
  });
  expect(findProblems({ ...emptySettings(), topK: "2.5" })).toEqual({ ...none, topK: "count" });
});
