import { expect, test } from "vitest";
import { findProblems, keyOf, type Stored, toConfig, toDraft } from "./draft.ts";
import { toRow } from "#plugins/web/kit/upstream/header-rows.ts";

const stored: Stored = {
  kind: "common",
  index: 1,
  url: "https://api.example.com/v1",
  key: "sk-…9876",
  config: {
    prefix_id: "team",
    tags: [{ name: "fast" }, { name: "cheap" }],
    model_ids: ["a", "b"],
    headers: { "x-user": "{{USER_ID}}" },
    extra_params: { seed: 7 },
    azure: true,
    later: "kept",
  },
};

test("a stored connection that nothing is changed of means the same settings", () => {
  expect(toConfig(toDraft(stored), stored)).toEqual({
    prefix_id: "team",
    tags: [{ name: "fast" }, { name: "cheap" }],
    model_ids: ["a", "b"],
    access: "admins",
    access_groups: [],
    headers: { "x-user": "{{USER_ID}}" },
    auth_type: "bearer",
    api_type: "",
    provider: "azure",
    api_version: "",
    passthrough_params: "",
    extra_params: { seed: 7 },
    later: "kept",
  });
});

test("a key is kept until another one is typed or it is removed", () => {
  const draft = toDraft(stored);
  expect(keyOf(draft, stored)).toBe("sk-…9876");
  draft.isKeyRemoved = true;
  expect(keyOf(draft, stored)).toBe("");
  draft.key = " sk-new ";
  expect(keyOf(draft, stored)).toBe("sk-new");
});

test("a runtime keeps its key in its settings and has no headers", () => {
  const draft = { ...toDraft(undefined, "runtime"), url: "http://localhost:11434", key: "k", tags: "a,,b " };
  expect(toConfig(draft)).toEqual({
    prefix_id: "",
    tags: [{ name: "a" }, { name: "b" }],
    model_ids: [],
    access: "admins",
    access_groups: [],
    key: "k",
  });
});

test("what cannot be sent is named by its field", () => {
  const draft = { ...toDraft(stored), url: "example", extra: "[1]", access: "groups" as const };
  draft.headers = [toRow("two words", "x")];
  expect(findProblems(draft, stored)).toEqual({
    url: "address",
    key: "keyAgain",
    extra: "noObject",
    headers: "headerName",
    groups: "noGroup",
  });
  expect(findProblems(toDraft(stored), stored)).toEqual({});
});
