import { describe, expect, test } from "vitest";
import { AppError } from "#kernel/errors.ts";
import { parseJson, toJson, toJsonWithBigInts } from "./json.ts";

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

function refusalOf(text: string): string {
  try {
    parseJson(text);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).code).toBe("invalid");
    return String((error as AppError).detail);
  }
  throw new Error(`accepted: ${text.slice(0, 50)}`);
}

describe("parsing", () => {
  test.each([
    ['{"a": [1, "x", null, true]}', { a: [1, "x", null, true] }],
    ['"[[[["', "[[[["],
    [String.raw`"a \" [ \\"`, 'a " [ \\'],
    ['{"constructor": 1}', { constructor: 1 }],
    [" 1 ", 1],
    ["\uFEFF{}", {}],
  ])("%s is taken as it is", (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test.each(["", "{", '{"a":}', "undefined", "{'a': 1}", '"open', "[1,]", "\0", "NaN"])(
    "%j is refused without the parser's words",
    (text) => {
      expect(refusalOf(text)).toBe("The body is not valid JSON.");
    },
  );

  test.each(['{"__proto__": {}}', '{"a": [{"__proto__": 1}]}', String.raw`{"\u005f_proto__": {}}`])(
    "%s is refused: it could change what objects inherit",
    (text) => {
      expect(refusalOf(text)).toContain("__proto__");
    },
  );

  test("200 levels are taken, 201 and a million are refused before anything recurses", () => {
    expect(() => parseJson(nested(200))).not.toThrow();
    expect(refusalOf(nested(201))).toContain("200 levels");
    expect(refusalOf("[".repeat(1_000_000))).toContain("200 levels");
    expect(refusalOf('{"a":'.repeat(300))).toContain("200 levels");
  });

  test("brackets inside texts do not count as nesting", () => {
    expect(parseJson(JSON.stringify("[".repeat(500)))).toHaveLength(500);
    expect(parseJson(JSON.stringify(['\\"' + "{".repeat(500)]))).toHaveLength(1);
  });
});

describe("writing", () => {
  test("nanoseconds are plain integers on the wire, with every digit", () => {
    const value = { at: 1_763_731_200_123_456_789n, list: [1n, 2], text: "3n" };
    const text = '{"at":1763731200123456789,"list":[1,2],"text":"3n"}';
    expect(toJson(value)).toBe(text);
    expect(toJsonWithBigInts(value)).toBe(text);
  });

  test("both ways write the same", () => {
    const value = { a: 1, b: undefined, c: [null, undefined], d: new Date(0), e: "é\u2028" };
    expect(toJsonWithBigInts(value)).toBe(toJson(value));
  });

  test("a value in a circle is an error of ours and not taken for a big integer", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    expect(() => toJson(circle)).toThrow(TypeError);
  });
});
