import { createHash, randomBytes, randomUUID } from "node:crypto";

const digests: Readonly<Record<string, string>> = {
  "SHA-1": "sha1",
  "SHA-256": "sha256",
  "SHA-384": "sha384",
  "SHA-512": "sha512",
};
// Each question is answered on the event loop: none may take long.
const maxLength = 64 * 1024;
const maxDigestLength = 1024 * 1024;
const parts = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
] as const;
const changeable = new Set<string>([...parts, "search", "hash"]);

/**
 * Answers what the globals of a context ask the host for (inside/globals.js). All of it is pure: nothing here reads or
 * changes anything of the platform. Never throws, because an error of the host must not reach user code.
 */
export function answerPureCall(
  what: unknown,
  first?: unknown,
  second?: unknown,
  third?: unknown,
): string | undefined {
  try {
    const [a, b, c] = [first, second, third].map((text) => (typeof text === "string" ? text : undefined));
    const isKnown = typeof what === "string" && Object.hasOwn(pureCalls, what);
    const isShort = [a, b, c].every(
      (text, at) => (text?.length ?? 0) <= (at === 1 ? maxDigestLength : maxLength),
    );
    return isKnown && isShort ? pureCalls[what]?.(a ?? "", b, c) : undefined;
  } catch {
    return undefined;
  }
}

type PureCall = (a: string, b: string | undefined, c: string | undefined) => string | undefined;

const pureCalls: Readonly<Record<string, PureCall>> = {
  address: (address, base) => toParts(new URL(address, base)),
  change(address, name = "", value = "") {
    const url = new URL(address);
    if (changeable.has(name)) {
      Reflect.set(url, name, value);
    }
    return toParts(url);
  },
  query: (text) => JSON.stringify([...new URLSearchParams(text)]),
  toQuery: (pairs) => new URLSearchParams(JSON.parse(pairs) as [string, string][]).toString(),
  uuid: () => randomUUID(),
  random: (count) => randomBytes(Math.min(Number(count) || 0, 65_536)).toString("base64"),
  digest(name, data = "") {
    const algorithm = Object.hasOwn(digests, name.toUpperCase()) ? digests[name.toUpperCase()] : undefined;
    return algorithm && createHash(algorithm).update(Buffer.from(data, "base64")).digest("base64");
  },
};

function toParts(url: URL): string {
  const { search, hash } = url;
  return JSON.stringify({ ...Object.fromEntries(parts.map((name) => [name, url[name]])), search, hash });
}
