import { AppError } from "#kernel/errors.ts";
import { type AppEventName, neededScope } from "../scopes.ts";

interface Wishes {
  readonly url: string | null;
  readonly scopes: readonly string[];
  readonly events: readonly string[];
}

/** Throws `invalid` for events that would never come: without an address, or without the scope that they need. */
export function checkWishes({ url, scopes, events }: Wishes): void {
  if (events.length > 0 && url === null) {
    throw new AppError("invalid", "url: events need an address where they are posted to.");
  }
  for (const event of events) {
    const scope = neededScope(event as AppEventName);
    if (scope !== null && !scopes.includes(scope)) {
      throw new AppError("invalid", `events: ${event} needs the scope ${scope}.`);
    }
  }
}

/** The address to store, normalised; `base` resolves one without a host. Throws `invalid` for no http(s) address. */
export function requireUrl(field: string, address: string, base?: string): string {
  const url = URL.parse(address, base);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new AppError("invalid", `${field}: write an address that begins with https:// or http://.`);
  }
  return url.href;
}
