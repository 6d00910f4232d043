import type { Egress } from "#kernel/egress/egress.ts";
import type { Logger } from "#kernel/log.ts";
import { createCached } from "./cached.ts";

const minute = 60_000;
const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

export interface RemoteOptions {
  readonly egress: Pick<Egress, "fetch">;
  readonly log: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
}

/** Documents that the operator's settings point to. */
export interface Remote {
  /** The manifest at this address; undefined when there is none to be had. */
  manifest(url: string): Promise<Record<string, unknown> | undefined>;
  /** The latest release that this address names; undefined when it does not answer one. */
  latestVersion(url: string): Promise<string | undefined>;
}

/** Creates the reader of remote documents: five minutes for manifests, an hour for releases. */
export function createRemote({ egress, log, signal }: RemoteOptions): Remote {
  const read = async (url: string) => {
    const options = {
      trust: "operator",
      signal,
      timeoutMs,
      maxBytes,
      headers: { accept: "application/json" },
    } as const;
    const answer = await egress.fetch(url, options);
    if (!answer.ok) {
      throw new Error(`the address answered with status ${answer.status}`);
    }
    return toObject(await answer.json());
  };
  const manifest = createCached({
    keepMs: 5 * minute,
    read,
    failed: (error) => log.warn({ err: error }, "the manifest of EXTERNAL_PWA_MANIFEST_URL cannot be read"),
  });
  const version = createCached({
    keepMs: 60 * minute,
    read: async (url) => toVersion(await read(url)),
    failed: (error) => log.warn({ err: error }, "the latest release cannot be read from VERSION_UPDATE_URL"),
  });
  return { manifest, latestVersion: version };
}

function toObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error("the address did not answer a JSON object");
  }
  return { ...value };
}

function toVersion({ version, tag_name: tag }: Record<string, unknown>): string {
  const named = version ?? tag;
  if (typeof named !== "string" || !/^v?\d+\.\d+/.test(named)) {
    throw new Error("the answer names no version");
  }
  return named.replace(/^v/, "");
}
