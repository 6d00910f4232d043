import { createEgress, type Egress, type EgressOptions } from "#kernel/egress/egress.ts";

/** The way out for suites without a platform, with the settings of a fresh installation unless told otherwise. */
export function openEgress(options: Partial<EgressOptions> = {}): Egress {
  return createEgress({
    allowedPrivateOrigins: () => [],
    ssl: () => true,
    caFile: () => "",
    fingerprint: () => "",
    allowRedirects: () => false,
    timeoutSeconds: () => null,
    ...options,
  });
}
