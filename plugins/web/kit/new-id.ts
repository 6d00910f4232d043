/** A random UUID. Pages that came over plain HTTP have no `crypto.randomUUID`. */
export function newId(): string {
  return globalThis.isSecureContext
    ? crypto.randomUUID()
    : toUuid(crypto.getRandomValues(new Uint8Array(16)));
}

/** Version 4 of RFC 9562: six bits say what it is, the others are random. */
function toUuid(bytes: Uint8Array): string {
  const hex = [...bytes]
    .map((byte, at) => (at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte))
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
