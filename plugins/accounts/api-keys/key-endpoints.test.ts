import { expect, it } from "vitest";
import { isPathAllowed } from "./key-endpoints.ts";

const allowed = ["/api/chat", "api/models", " /api/v1/files/ ", ""];

it.each([
  ["/api/chat", true],
  ["/api/chat/", true],
  ["/api/chat/completions", true],
  ["/api/models", true],
  ["/api/v1/files", true],
  ["/api/v1/files/%C3%A4/content", true],
  ["/api/chats", false],
  ["/api/chat2/completions", false],
  ["/api", false],
  ["/", false],
  ["/api/v1/users", false],
  ["/api/chat/../v1/users", false],
  ["/api/chat/%2e%2e/v1/users", false],
  ["/api/chat/..%2fv1/users", false],
  ["/api/chat/..%5Cv1/users", false],
  ["/api/chat\\..\\v1\\users", false],
  ["/api/chat//../v1/users", false],
  ["//api/chat", false],
  ["http://other/api/chat", false],
  ["", false],
])("%s → %s", (path, expected) => {
  expect(isPathAllowed(path, allowed)).toBe(expected);
});

it("allows nothing when nothing is listed", () => {
  expect(isPathAllowed("/api/models", [])).toBe(false);
});
