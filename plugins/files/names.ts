import { AppError } from "#kernel/errors.ts";

const longest = 255;

/**
 * Makes a display name of what a client sent: the last part of any path, without control and direction
 * characters, at most 255 characters with the ending kept. It is never part of a storage key.
 */
export function toDisplayName(sent: string): string {
  const name = (sent.toWellFormed().split(/[/\\]/).at(-1) ?? "")
    .replace(/^[A-Za-z]:/, "")
    // Control characters break headers and logs; direction marks make `exe.txt` out of `txt.exe`.
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, "")
    .normalize("NFC")
    .trim();
  return shorten(/^\.*$/.test(name) ? "file" : name);
}

/** The ending without its dot, lower-case; empty when the name has none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase();
}

/** Throws `invalid` for an ending that RAG_ALLOWED_FILE_EXTENSIONS does not list; an empty list allows all. */
export function requireAllowedExtension(name: string, allowed: readonly string[]): void {
  const endings = allowed.map((ending) => ending.trim().replace(/^\./, "").toLowerCase()).filter(Boolean);
  const ending = extensionOf(name);
  if (endings.length > 0 && !endings.includes(ending)) {
    const kind = ending === "" ? "without an ending" : `of type .${ending.slice(0, 20)}`;
    throw new AppError("invalid", `Files ${kind} are not allowed here. Allowed: ${endings.join(", ")}.`);
  }
}

/** A Content-Disposition value whose name survives every client (RFC 6266). */
export function toDisposition(kind: "inline" | "attachment", name: string): string {
  const plain = name.replace(/[^\x20-\x7e]/g, "_").replace(/["\\%]/g, "_");
  // encodeURIComponent leaves out what RFC 8187 does not allow in a value.
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return plain === name
    ? `${kind}; filename="${plain}"`
    : `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/** A LIKE pattern for a file name glob (`*` any run, `?` one character); everything else is literal. */
export function toLikePattern(glob: string): string {
  return glob
    .replace(/[\\%_]/g, (sign) => `\\${sign}`)
    .replace(/\*+/g, "%")
    .replace(/\?/g, "_");
}

/** Cuts at a whole character and keeps the ending, which is what people recognise a file by. */
function shorten(name: string): string {
  if (name.length <= longest) {
    return name;
  }
  const ending = extensionOf(name);
  const tail = ending !== "" && ending.length <= 20 ? name.slice(-ending.length - 1) : "";
  return name.slice(0, longest - tail.length).replace(/[\ud800-\udbff]$/, "") + tail;
}
