import { expect, test } from "vitest";
import { toFormSchema } from "./schema.ts";

test("every valve has a type: its own, the one beside null, or that of its value", () => {
  const schema = {
    type: "object",
    properties: {
      url: { type: "string", title: "Address" },
      limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
      pipelines: { default: ["*"] },
      priority: { default: 1 },
    },
  };
  expect(toFormSchema(schema, { url: "a", on: true, later: null })).toEqual({
    properties: {
      url: { type: "string", title: "Address" },
      limit: { anyOf: [{ type: "integer" }, { type: "null" }], type: "integer" },
      pipelines: { default: ["*"], type: "array" },
      priority: { default: 1, type: "number" },
      on: { type: "boolean" },
      later: { type: "string" },
    },
  });
  expect(toFormSchema(null, {})).toEqual({ properties: {} });
});
