import { expect, it } from "vitest";
import { toClearedCookies, toSessionCookie } from "./cookies.ts";

const now = Math.floor(Date.now() / 1000);
type SameSite = "lax" | "strict" | "none";
const options = (cookieSameSite: SameSite, cookieSecure: boolean, protocol: string) => ({
  config: { cookieSameSite, cookieSecure },
  protocol,
});

it.each([
  [options("lax", false, "http"), "HttpOnly; SameSite=Lax"],
  [options("strict", false, "https"), "HttpOnly; SameSite=Strict; Secure"],
  [options("lax", true, "http"), "HttpOnly; SameSite=Lax; Secure"],
  [options("none", false, "http"), "HttpOnly; SameSite=None; Secure"],
])("%j ends in %s", (given, end) => {
  expect(toSessionCookie("t", now + 60, given).endsWith(`; ${end}`)).toBe(true);
  expect(toClearedCookies(given).every((cookie) => cookie.endsWith(`=; Path=/; Max-Age=0; ${end}`))).toBe(
    true,
  );
});

it.each([
  [now + 3600, 3600],
  [now - 5, 0],
  [null, 400 * 86_400],
  [now + 10_000 * 86_400, 400 * 86_400],
])("of a session that ends at %s lives %i seconds", (expiresAt, age) => {
  const cookie = toSessionCookie("t", expiresAt, options("lax", false, "http"));
  const found = Number(/Max-Age=(\d+)/.exec(cookie)?.[1]);
  // The second may turn between reading the clock here and there.
  expect(age - found).toBeGreaterThanOrEqual(0);
  expect(age - found).toBeLessThanOrEqual(1);
});
