import { expect, test } from "vitest";
import { readEmbed, toHeight, withHeight } from "./embeds.ts";

test("tells addresses from documents", () => {
  expect(readEmbed("https://maps.test/mill?x=1")).toEqual({
    kind: "link",
    address: "https://maps.test/mill?x=1",
    host: "maps.test",
  });
  expect(readEmbed(" /api/v1/files/1/content ")).toMatchObject({ kind: "link", host: "localhost" });
  const documents = [
    "<h1>A</h1>",
    "Plain words",
    "javascript:alert(1)",
    "data:text/html,x",
    "//other.test/x",
    "https://a b",
  ];
  for (const html of documents) {
    expect(readEmbed(html)).toEqual({ kind: "document", html });
  }
  expect(readEmbed("  ")).toBeUndefined();
});

test("takes heights that a page can spare, and no other message", () => {
  const told = (height: unknown) => toHeight({ type: "iframe:height", height }, 800);
  expect([told(120.2), told(3), told(-5), told(1e9), told(Infinity), told("300")]).toEqual([
    121,
    40,
    40,
    800,
    undefined,
    undefined,
  ]);
  expect([toHeight(null, 800), toHeight("iframe:height", 800), toHeight({ height: 5 }, 800)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(withHeight("<p>A</p>")).toMatch(/^<!doctype html><p>A<\/p>\n<script>.*<\/script>$/s);
  expect(withHeight("<!DOCTYPE html><p>A</p>")).toMatch(/^<!DOCTYPE html><p>A<\/p>\n<script>/);
});
