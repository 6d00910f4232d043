import { describe, expect, it } from "vitest";
import { isShownInline, isText, toMediaType } from "./media.ts";

it.each([
  ["text/plain; charset=utf-8", "a.txt", "text/plain"],
  ["TEXT/HTML", "a.txt", "text/html"],
  ["application/octet-stream", "a.pdf", "application/pdf"],
  ["", "a.png", "image/png"],
  ["no type", "a", "application/octet-stream"],
  ["text/html\r\nx: y", "a", "application/octet-stream"],
])("the media type of %j, %j is %j", (sent, name, type) => expect(toMediaType(sent, name)).toBe(type));

describe("shown in place", () => {
  it.each(["image/png", "image/gif", "application/pdf", "text/plain", "audio/mpeg", "video/mp4"])(
    "%s",
    (type) => expect(isShownInline(type)).toBe(true),
  );
  it.each([
    "image/svg+xml",
    "image/svg",
    "text/html",
    "text/xml",
    "application/xhtml+xml",
    "text/javascript",
    "application/octet-stream",
    "text/css",
  ])("not %s", (type) => expect(isShownInline(type)).toBe(false));
});

describe("text", () => {
  it.each([
    ["text/markdown", "a.md"],
    ["application/json", "a"],
    ["application/vnd.api+json", "a"],
    ["application/octet-stream", "a.rs"],
    ["application/octet-stream", "Dockerfile"],
    ["video/mp2t", "a.ts"],
    ["text/csv", "a.csv"],
  ])("is %s, %s", (type, name) => expect(isText(type, name)).toBe(true));
  it.each([
    ["application/pdf", "a.pdf"],
    ["image/svg+xml", "a.svg"],
    ["video/mp2t", "a.m2ts"],
    ["application/octet-stream", "a.bin"],
    ["audio/mpeg", "a.txt"],
  ])("is not %s, %s", (type, name) => expect(isText(type, name)).toBe(false));
});
