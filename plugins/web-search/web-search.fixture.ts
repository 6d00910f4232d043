import type { Egress, FetchInit } from "#kernel/egress/egress.ts";
import { openEgress } from "#test/support/egress.ts";
import { type WebSettings, webVariables } from "./config.ts";

/** The settings of a fresh installation, with changes. */
export function toSettings(changes: Partial<WebSettings> = {}): WebSettings {
  const defaults = Object.entries(webVariables).map(([name, variable]) => [name, variable.default]);
  return { ...(Object.fromEntries(defaults) as WebSettings), ...changes };
}

export interface TestEgress extends Egress {
  /** Where requests were meant to go. */
  readonly asked: readonly { readonly url: URL; readonly trust: FetchInit["trust"] }[];
}

/**
 * The real client, whose requests to the public addresses of services arrive at a peer on loopback: what is asked is
 * what the service would get.
 */
export function createTestEgress(
  origin: string,
  options: { readonly allowedOrigins?: readonly string[]; readonly redirects?: boolean } = {},
): TestEgress {
  const egress = openEgress({
    allowedPrivateOrigins: () => options.allowedOrigins ?? [],
    allowRedirects: () => options.redirects ?? false,
  });
  const asked: { url: URL; trust: FetchInit["trust"] }[] = [];
  return {
    ...egress,
    asked,
    fetch(address, init) {
      const url = new URL(address);
      asked.push({ url, trust: init.trust });
      const isPublic = url.protocol === "https:";
      return egress.fetch(isPublic ? new URL(url.pathname + url.search, origin) : url, init);
    },
  };
}
