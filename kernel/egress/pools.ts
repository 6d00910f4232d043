import type { LookupFunction } from "node:net";
import { Pool } from "undici";
import { AppError } from "#kernel/errors.ts";
import { createConnector } from "./connector.ts";
import type { Target } from "./target.ts";
import { type TlsSettings, toTlsKey } from "./tls.ts";

export interface PoolsOptions {
  readonly tls: () => TlsSettings;
  readonly lookup: LookupFunction;
  readonly connectTimeoutMs: number;
  /** Milliseconds of silence where neither the specification nor the caller sets a time. */
  readonly silenceMs: number;
  /** Pools that are kept; the one used longest ago goes first. */
  readonly max: number;
}

/** Connection pools, one per origin and way of checking. */
export interface Pools {
  /** The pool for a target, made when there is none; throws AppError "unavailable" once closed. */
  open(target: Target): Pool;
  /** Breaks every connection. */
  close(): Promise<void>;
}

/** Keeps connections apart by origin, by TLS settings and by whether their address was checked. */
export function createPools(options: PoolsOptions): Pools {
  // A Map iterates in insertion order, so a used pool is put back at the end and the first one is the oldest.
  const pools = new Map<string, Pool>();
  const retired = new Set<Pool>();
  /** The one at the end: most requests go where the last one went. */
  let latest = "";
  let isClosed = false;

  const retire = (key: string, pool: Pool) => {
    pools.delete(key);
    retired.add(pool);
    // Requests that it still serves end in their own time.
    void pool.close().finally(() => retired.delete(pool));
  };

  return {
    open({ url, isChecked }) {
      if (isClosed) {
        throw new AppError("unavailable", "The server is stopping.");
      }
      const tls = options.tls();
      const key = `${isChecked ? "checked" : "open"} ${url.origin} ${url.protocol === "https:" ? toTlsKey(tls) : ""}`;
      const known = pools.get(key);
      if (known !== undefined && key === latest) {
        return known;
      }
      const pool = known ?? createPool(url, { ...options, tls, isChecked });
      pools.delete(key);
      pools.set(key, pool);
      latest = key;
      if (pools.size > options.max) {
        retire(...(pools.entries().next().value as [string, Pool]));
      }
      return pool;
    },
    async close() {
      isClosed = true;
      const all = [...pools.values(), ...retired];
      pools.clear();
      await Promise.all(all.map((pool) => pool.destroy()));
    },
  };
}

function createPool(
  url: URL,
  options: Omit<PoolsOptions, "tls"> & { readonly tls: TlsSettings; readonly isChecked: boolean },
): Pool {
  return new Pool(url.origin, {
    connect: createConnector(options),
    headersTimeout: options.silenceMs,
    bodyTimeout: options.silenceMs,
    // Vendors answer with more and longer headers than the default of 16 KiB.
    maxHeaderSize: 65_536,
  });
}
