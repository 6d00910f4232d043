import { sessionCookie } from "#kernel/http/credential.ts";
import { challengeCookie } from "../second-factor.ts";
import type { AccountsConfig } from "../config.ts";

export interface CookieOptions {
  readonly config: Pick<AccountsConfig, "cookieSameSite" | "cookieSecure">;
  /** `https` or `http` as the client sees it. */
  readonly protocol: string;
}

// Browsers cut cookies off at 400 days; a session that never ends is refreshed with every visit.
const challengeSeconds = 300;
const longestAge = 400 * 86_400;

/** The Set-Cookie header of a session that ends at `expiresAt` (epoch seconds, null = never). */
export function toSessionCookie(token: string, expiresAt: number | null, options: CookieOptions): string {
  const left = expiresAt === null ? longestAge : expiresAt - Math.floor(Date.now() / 1000);
  return toCookie(sessionCookie, encodeURIComponent(token), Math.max(0, Math.min(left, longestAge)), options);
}

/** The cookie that keeps an administrator's own session while another account is viewed. */
export const ownSessionCookie = "own_session";

/** The Set-Cookie header that keeps the session of an administrator during a view; empty removes it. */
export function toOwnSessionCookie(token: string, options: CookieOptions): string {
  return toCookie(ownSessionCookie, encodeURIComponent(token), token === "" ? 0 : longestAge, options);
}

/** Set-Cookie headers that remove everything a session left in the browser. */
export function toClearedCookies(options: CookieOptions): string[] {
  return [sessionCookie, "oauth_id_token", "oauth_session_id"].map((name) => toCookie(name, "", 0, options));
}

/** The Set-Cookie header of a sign-in that waits for its next step; empty removes it. */
export function toStepCookie(value: string, options: CookieOptions): string {
  return toCookie(challengeCookie, encodeURIComponent(value), value === "" ? 0 : challengeSeconds, options);
}

function toCookie(name: string, value: string, maxAge: number, { config, protocol }: CookieOptions): string {
  const sameSite = { lax: "Lax", strict: "Strict", none: "None" }[config.cookieSameSite];
  // Browsers refuse SameSite=None without Secure.
  const secure = config.cookieSecure || protocol === "https" || sameSite === "None";
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${secure ? "; Secure" : ""}`;
}
