import type { Principal } from "./principal.ts";

const shown = new WeakMap<Principal, string>();

/** Remembers what a caller showed, apart from the caller: nothing that is given a principal sees it. */
export function rememberCredential(principal: Principal, credential: string): void {
  shown.set(principal, credential);
}

/** The token or key of a caller; undefined for work of the server itself. */
export function credentialOf(principal: Principal): string | undefined {
  return shown.get(principal);
}
