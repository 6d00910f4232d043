import { createHash } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { reply, type Reply } from "#kernel/http/route.ts";
import { findPictureProblem, unreadable } from "#kernel/picture-limits.ts";
import { sniffPicture } from "#kernel/picture-type.ts";
import { defaultAvatar } from "./default-avatar.ts";

/** The live settings that decide about profile images (configuration document, runtime table). */
export interface ProfileImageRules {
  /** PROFILE_IMAGE_ALLOWED_MIME_TYPES, lower case. */
  allowedTypes(): readonly string[];
  /** PROFILE_IMAGE_MAX_DATA_URI_SIZE in characters; undefined leaves the size of the request as the only limit. */
  maxLength(): number | undefined;
  /** ENABLE_PROFILE_IMAGE_URL_FORWARDING. */
  forwardsUrls(): boolean;
}

/**
 * Checks an image address that is about to be stored: empty, a path of this site, an http(s) address or an inline
 * image of an allowed type. Throws `invalid` for anything else and `too_large` for an inline image over the limit.
 */
export function requireProfileImage(value: string, rules: ProfileImageRules): string {
  if (value.startsWith("data:")) {
    requireInlineImage(value, rules);
    return value;
  }
  if (value.length > longestUrl) {
    throw new AppError(
      "too_large",
      `The address of a profile image may have at most ${longestUrl} characters.`,
    );
  }
  if (value !== "" && !isSitePath(value) && toExternalUrl(value) === undefined) {
    throw new AppError(
      "invalid",
      "The profile image must be an inline image, an http(s) address or a path of this site.",
    );
  }
  return value;
}

/** The same for what a person did not choose: undefined where it is refused, which is no reason not to go on. */
export function toAllowedPicture(value: string | undefined, rules: ProfileImageRules): string | undefined {
  try {
    return value && requireProfileImage(value, rules);
  } catch {
    return undefined;
  }
}

/** How a picture was asked for, and what stands in for one that is missing. */
export interface PictureRequest {
  /** If-None-Match. */
  readonly known?: string | undefined;
  /** Sec-Fetch-Dest. */
  readonly fetchDest?: string | undefined;
  /** PNG bytes; a person's head and shoulders when left out. */
  fallback?(): Buffer;
}

/** Answers a stored image: its bytes, a redirect to its address, or the default picture. */
export function toProfileImageReply(
  value: string | null,
  rules: ProfileImageRules,
  { known, fetchDest, fallback = defaultAvatar }: PictureRequest = {},
): Reply {
  const inline = value?.startsWith("data:") ? decode(value, rules) : undefined;
  if (inline !== undefined) {
    return toImage(inline, known);
  }
  const external =
    value === null || !rules.forwardsUrls() || isNavigation(fetchDest) ? undefined : toExternalUrl(value);
  if (external !== undefined) {
    return reply(undefined, {
      status: 302,
      headers: { location: external, ...privately, "referrer-policy": "no-referrer" },
    });
  }
  return toImage({ type: "image/png", bytes: fallback() }, known);
}

/** A picture is never a page: a browser that would leave for the address, or frame it, is not sent there. */
function isNavigation(fetchDest: string | undefined): boolean {
  return fetchDest !== undefined && !["image", "empty"].includes(fetchDest);
}

interface InlineImage {
  type: string;
  bytes: Buffer;
}

const longestUrl = 2048;
const privately = { "cache-control": "private, no-cache" };

function requireInlineImage(value: string, rules: ProfileImageRules): void {
  const limit = rules.maxLength();
  if (limit !== undefined && value.length > limit) {
    throw new AppError("too_large", `The profile image may have at most ${limit} characters.`);
  }
  const image = decode(value, rules);
  if (image === undefined) {
    const types = rules.allowedTypes().filter((type) => !isScriptable(type));
    throw new AppError("invalid", `The profile image must be base64 data of one of: ${types.join(", ")}.`);
  }
  const type = sniffPicture(image.bytes);
  const problem = type && findPictureProblem(image.bytes, type);
  // A broken one harms nobody: browsers show nothing for it.
  if (problem !== undefined && problem !== unreadable) {
    throw new AppError("invalid", `The profile image ${problem}.`);
  }
}

/** Also run when reading: what was stored under older rules is not served under newer ones. */
function decode(value: string, rules: ProfileImageRules): InlineImage | undefined {
  const comma = value.indexOf(",");
  const kind = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+);base64$/i.exec(value.slice(0, comma))?.[1]?.toLowerCase();
  const data = value.slice(comma + 1);
  if (kind === undefined || !isBase64(data) || !kind.startsWith("image/") || isScriptable(kind)) {
    return undefined;
  }
  const bytes = rules.allowedTypes().includes(kind) ? Buffer.from(data, "base64") : undefined;
  return bytes !== undefined && hasSignature(bytes, kind) ? { type: kind, bytes } : undefined;
}

/** Looks for one sign that does not belong there: an expression for the whole of a large picture runs out of stack. */
function isBase64(data: string): boolean {
  const signs = data.endsWith("==") ? data.slice(0, -2) : data.endsWith("=") ? data.slice(0, -1) : data;
  return signs !== "" && !/[^a-z0-9+/]/i.test(signs);
}

/** SVG may carry script, so it is refused even where an operator lists it. */
function isScriptable(type: string): boolean {
  return type.includes("svg") || type.includes("xml");
}

const signed: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The bytes have to be what the type says; types without a known signature pass. */
function hasSignature(bytes: Buffer, type: string): boolean {
  return !signed.includes(type) || `image/${sniffPicture(bytes)}` === type;
}

function toImage({ type, bytes }: InlineImage, known?: string): Reply {
  const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
  const headers = { ...privately, etag, "x-content-type-options": "nosniff" };
  if (known === etag) {
    return reply(undefined, { status: 304, headers });
  }
  return reply(bytes, {
    headers: {
      ...headers,
      "content-type": type,
      "content-disposition": "inline",
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "same-origin",
    },
  });
}

/** A single leading slash: `//host` and `/\host` would leave the site. */
function isSitePath(value: string): boolean {
  return /^\/(?![/\\])[^\s\\]*$/.test(value);
}

function toExternalUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  return isWeb && url.username === "" && url.password === "" ? url.href : undefined;
}
