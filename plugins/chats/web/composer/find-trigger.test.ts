import { expect, test } from "vitest";
import { findTrigger } from "./find-trigger.ts";

const at = (text: string, cursor = text.length) => findTrigger(text, cursor, ["/", "@", "#"]);

test("finds the word that opens a list", () => {
  expect(at("@mill")).toEqual({ character: "@", query: "mill", start: 0, end: 5 });
  expect(at("ask #")).toEqual({ character: "#", query: "", start: 4, end: 5 });
  expect(at("one\n/two three", 8)).toMatchObject({ character: "/", query: "two" });
});

test("leaves addresses, paths and finished words alone", () => {
  for (const text of ["ada@mill.example", "a/b", "C#", "@mill ", "", "plain"]) {
    expect(at(text)).toBeUndefined();
  }
  expect(at(`/${"x".repeat(200)}`)).toBeUndefined();
});

test("takes addresses that are longer than a name", () => {
  const url = `https://mill.example/${"a".repeat(150)}`;
  expect(at(`read #${url}`)).toMatchObject({ character: "#", query: url, start: 5 });
  expect(at(`#https://${"a".repeat(2000)}`)).toBeUndefined();
});
