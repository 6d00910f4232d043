import { expect, it } from "vitest";
import { parseArguments } from "./call-tools.ts";

it.each([
  ['{"a": 1}', { a: 1 }],
  ["", {}],
  ["  ", {}],
  ["{'a': 'it\\'s', 'b': True, 'c': None}", { a: "it's", b: true, c: null }],
  ['{"a": \'x "y" z\'}', { a: 'x "y" z' }],
  ['{"a": [1, 2,],}', { a: [1, 2] }],
  ['{"a": "True, None"}', { a: "True, None" }],
  ["[1]", undefined],
  ["null", undefined],
  ['"text"', undefined],
  ['{"a": ', undefined],
  ["__import__('os')", undefined],
])("reads %s", (text, expected) => {
  expect(parseArguments(text)).toEqual(expected);
});
