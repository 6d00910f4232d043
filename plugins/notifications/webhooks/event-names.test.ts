import { expect, it } from "vitest";
import { eventCatalogue, findPatternProblem, matchesPattern } from "./event-names.ts";

const names = eventCatalogue.map(({ event }) => event);

it("names every event once", () => {
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("channel.webhook.created");
  expect(names).toContain("system.shutdown.started");
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

it("tells why a pattern takes nothing", () => {
  expect(["*", "user.*", "auth.signup", "knowledge.*"].map(findPatternProblem)).toEqual(
    Array.from({ length: 4 }),
  );
  for (const pattern of ["", "users.*", "chat.", ".*", "chat.finish*"]) {
    expect(findPatternProblem(pattern)).toBe(`No event of the catalogue fits ${pattern}.`);
  }
  for (const pattern of ["knowledge.external_connection.created", "knowledge.external_connection.*"]) {
    expect(findPatternProblem(pattern)).toContain("has no connections to external sources");
  }
});
