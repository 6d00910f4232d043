import { afterEach, expect, test } from "vitest";
import { secondsUntil } from "#test/support/clock/now.ts";
import { learnTime, serverNow } from "./server-time.ts";

const day = 86_400_000;
const answer = (ms: number, more: Record<string, string> = {}) =>
  new Response(null, { headers: { date: new Date(Date.now() + ms).toUTCString(), ...more } });
const isAhead = (ms: number) => Math.abs(secondsUntil(serverNow()) * 1000 - ms) < 3000;

afterEach(() => learnTime(answer(0)));

test("a device that is a day behind or ahead goes by the server", () => {
  learnTime(answer(day));
  expect(isAhead(day)).toBe(true);
  learnTime(answer(-day));
  expect(isAhead(-day)).toBe(true);
  // A clock that was set right is right.
  learnTime(answer(0));
  expect(isAhead(0)).toBe(true);
});

test("the way of an answer, stored answers and those without a time change nothing", () => {
  learnTime(answer(-20_000));
  learnTime(answer(day, { "cache-control": "private, max-age=3600" }));
  learnTime(new Response(null));
  expect(isAhead(0)).toBe(true);
});
