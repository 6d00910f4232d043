/** Stands in every shown key; no real key holds it. */
const dots = "…";

/** A key as answers show it: enough to tell keys apart, too little to use. */
export function maskKey(key: string): string {
  return key === "" ? "" : `sk-${dots}${key.length >= 12 ? key.slice(-4) : ""}`;
}

/** True for what `maskKey` made. */
export function isMasked(key: string): boolean {
  return key.includes(dots);
}

/** True for header names whose values are secrets. */
export function isSecretHeader(name: string): boolean {
  return /auth|key|token|secret|cookie|password/i.test(name);
}
