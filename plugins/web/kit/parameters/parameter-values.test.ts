import { expect, test } from "vitest";
import { type Parameter, readParameter, showParameter } from "./parameter-values.ts";

const number: Parameter = { name: "temperature", label: "", hint: "", min: 0, max: 2, step: 0.1 };
const whole: Parameter = { name: "max_tokens", label: "", hint: "", min: 1, step: 1 };
const list: Parameter = { name: "stop", label: "", hint: "", kind: "list" };

test("reads numbers within their bounds, and nothing as nothing", () => {
  const read = (typed: string) => readParameter(number, typed);
  expect([read("0,7"), read("9"), read("-1"), read(" "), read("warm")]).toEqual([
    0.7,
    2,
    0,
    undefined,
    undefined,
  ]);
  expect(readParameter(whole, "99.6")).toBe(100);
});

test("reads lists line by line and shows them so", () => {
  expect(readParameter(list, "END\n\nSTOP")).toEqual(["END", "STOP"]);
  expect([showParameter(["END", "STOP"]), showParameter(0), showParameter(null)]).toEqual([
    "END\nSTOP",
    "0",
    "",
  ]);
});
