import { expect, test } from "vitest";
import { findNameProblems } from "./variables.ts";

const words = { form: "form", twice: "twice" };
const rows = (...names: string[]) => names.map((name, key) => ({ key, name, value: "" }));

test("names what is no name of a variable, or is there twice", () => {
  expect(findNameProblems(rows("city", "_x1", "2nd", "", "city", "my-name"), words)).toEqual({
    2: "form",
    3: "form",
    4: "twice",
    5: "form",
  });
});
