/** Settings that decide whether a forwarded address can be believed. */
export interface ProxyTrust {
  /** FORWARDED_ALLOW_IPS. */
  readonly proxies: readonly string[];
  /** HOST. */
  readonly host: string;
  /** A proxy signs people in by a header. */
  readonly trustsHeaders: boolean;
}

/** Warnings for the log where everybody is believed to be a proxy. */
export function findProxyWarnings({ proxies, host, trustsHeaders }: ProxyTrust): string[] {
  if (!proxies.includes("*")) {
    return [];
  }
  const warnings: string[] = [];
  if (trustsHeaders) {
    warnings.push(
      "WEBUI_AUTH_TRUSTED_EMAIL_HEADER is set, and FORWARDED_ALLOW_IPS believes everybody: who reaches this port without the proxy can be anyone",
    );
  }
  if (!isLoopback(host)) {
    warnings.push(
      `FORWARDED_ALLOW_IPS is * and HOST is ${host}: callers choose the address and the protocol they seem to come from, and so escape limits by address; name your proxies`,
    );
  }
  return warnings;
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);
}
