import { expect, it } from "vitest";
import { eventNames, isKnownPattern, matchesPattern } from "./event-names.ts";

it("names every event once", () => {
  expect(new Set(eventNames).size).toBe(eventNames.length);
  expect(eventNames).toContain("channel.webhook.created");
  expect(eventNames).toContain("system.shutdown.started");
});

it("takes all, one, or everything below a beginning", () => {
  expect(matchesPattern("*", "chat.created")).toBe(true);
  expect(matchesPattern("chat.created", "chat.created")).toBe(true);
  expect(matchesPattern("chat.*", "chat.created")).toBe(true);
  expect(matchesPattern("calendar.*", "calendar.event.created")).toBe(true);
  expect(matchesPattern("calendar.event.*", "calendar.alert")).toBe(false);
  expect(matchesPattern("chat.*", "chats.created")).toBe(false);
  expect(matchesPattern("chat.create", "chat.created")).toBe(false);
});

it("knows patterns that take something", () => {
  expect(["*", "user.*", "auth.signup"].every(isKnownPattern)).toBe(true);
  expect(["", "users.*", "chat.", ".*", "chat.finish*"].filter(isKnownPattern)).toEqual([]);
});
