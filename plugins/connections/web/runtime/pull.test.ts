import { expect, test } from "vitest";
import { PullReader } from "./pull.ts";

const line = (value: object) => `${JSON.stringify(value)}\n`;

test("adds the parts of a model up, however its lines are cut", () => {
  const reader = new PullReader();
  reader.push(line({ status: "pulling manifest" }));
  const text = line({ status: "pulling a", digest: "a", total: 100, completed: 40 });
  expect(reader.push(text.slice(0, 20))).toEqual({ status: "pulling manifest", completed: 0, total: 0 });
  expect(reader.push(text.slice(20))).toEqual({ status: "pulling a", completed: 40, total: 100 });
  const more =
    line({ digest: "a", total: 100, completed: 100 }) + line({ status: "pulling b", digest: "b", total: 50 });
  expect(reader.push(more)).toEqual({ status: "pulling b", completed: 100, total: 150 });
});

test("a backend that gives up is quoted", () => {
  expect(() => new PullReader().push(line({ error: "pull model manifest: file does not exist" }))).toThrow(
    "pull model manifest: file does not exist",
  );
});
