import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import type { Logger } from "#kernel/log.ts";
import type { Blobs } from "#storage/blobs.ts";
import type { Lock, LockedPackage } from "./runtime.ts";

export interface PackagesParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly blobs: Pick<Blobs, "read" | "write">;
  readonly log: Logger;
  readOwnLock(): Promise<Lock>;
  /** PYODIDE_PACKAGE_INDEX. */
  index(): string;
}

/** Packages for Python in browsers, from the index that an administrator named. */
export interface Packages {
  /** The lock file for browsers: what is offered, at addresses of the platform. */
  lock(): Promise<Lock>;
  /** A wheel by its hash; fetched from the index the first time. Undefined when no offered package has it. */
  read(sha256: string): Promise<Buffer | undefined>;
}

const Hash = /^[0-9a-f]{64}$/;
const IndexLock = z.looseObject({
  info: z.looseObject({ python: z.string(), abi_version: z.string().optional() }),
  packages: z.record(
    z.string(),
    z.looseObject({
      name: z.string(),
      file_name: z.string().regex(/^(?!\.)[\w.+!-]{1,200}$/, "must be a file beside the lock file"),
      sha256: z.string().regex(Hash),
    }),
  ),
});

const lockMs = 600_000;
/** A failed index is not asked again by each page. */
const retryMs = 15_000;
const maxLockBytes = 5_000_000;
const maxWheelBytes = 200_000_000;
const wheelMs = 120_000;

interface Offer {
  readonly index: string;
  readonly until: number;
  /** By hash. */
  readonly packages: ReadonlyMap<string, LockedPackage>;
  readonly lock: Lock;
}

/** Creates the offer of packages. Wheels are checked against the hash of their lock and kept in the store of bytes. */
export function createPackages(parts: PackagesParts): Packages {
  let offer: Promise<Offer> | undefined;
  let known: Offer | undefined;
  const fetching = new Map<string, Promise<Buffer>>();

  const current = async (): Promise<Offer> => {
    if (known === undefined || known.index !== parts.index() || known.until < Date.now()) {
      offer ??= readOffer(parts, known).finally(() => (offer = undefined));
      known = await offer;
    }
    return known;
  };
  return {
    lock: async () => (await current()).lock,
    async read(sha256) {
      const { index, packages } = await current();
      const wanted = packages.get(sha256);
      if (wanted === undefined) {
        return undefined;
      }
      const running = fetching.get(sha256) ?? readWheel(parts, index, wanted);
      fetching.set(sha256, running);
      return await running.finally(() => fetching.delete(sha256));
    },
  };
}

async function readOffer(parts: PackagesParts, before: Offer | undefined): Promise<Offer> {
  const index = parts.index();
  const own = await parts.readOwnLock();
  if (index === "") {
    return toOffer({ index, own, offered: {}, until: Number.POSITIVE_INFINITY });
  }
  try {
    const offered = await fetchLock(parts, index, own);
    return toOffer({ index, own, offered, until: Date.now() + lockMs });
  } catch (error) {
    parts.log.warn(
      { err: error },
      "the index of packages for Python in browsers does not answer as it should",
    );
    const until = Date.now() + retryMs;
    return before?.index === index ? { ...before, until } : toOffer({ index, own, offered: {}, until });
  }
}

async function fetchLock(
  { egress, log }: PackagesParts,
  index: string,
  own: Lock,
): Promise<Lock["packages"]> {
  const response = await egress.fetch(at(index, "pyodide-lock.json"), {
    trust: "operator",
    maxBytes: maxLockBytes,
    timeoutMs: 20_000,
  });
  const read = IndexLock.safeParse(response.ok ? await response.json() : undefined);
  if (!read.success) {
    throw new AppError(
      "upstream",
      `The index has no lock file that can be read (status ${response.status}).`,
    );
  }
  const { info, packages } = read.data;
  if (info.abi_version !== own.info.abi_version) {
    throw new AppError(
      "upstream",
      `The index is for another version of Pyodide: ${info.abi_version ?? info.python}, not ${own.info.abi_version}.`,
    );
  }
  // What this version of Pyodide was built with has a hash already: the index does not get to say another one.
  const hashes = new Map(Object.values(own.packages).map((one) => [one.file_name, one.sha256]));
  return Object.fromEntries(
    Object.entries(packages).filter(([name, { file_name: file, sha256 }]) => {
      const isTrue = (hashes.get(file) ?? sha256) === sha256;
      if (!isTrue) {
        log.warn(
          { package: name },
          "the index has a package of another hash than Pyodide was built with; it is left out",
        );
      }
      return isTrue;
    }),
  );
}

function toOffer({
  index,
  own,
  offered,
  until,
}: Pick<Offer, "index" | "until"> & { own: Lock; offered: Lock["packages"] }): Offer {
  const all = Object.values(offered);
  // Browsers find a wheel by its hash: one that changes has another address.
  const packages = Object.entries(offered).map(([name, one]) => [
    name,
    { ...one, file_name: `wheels/${one.sha256}/${one.file_name}` },
  ]);
  return {
    index,
    until,
    packages: new Map(all.map((one) => [one.sha256, one])),
    lock: { info: own.info, packages: Object.fromEntries(packages) },
  };
}

async function readWheel(parts: PackagesParts, index: string, wanted: LockedPackage): Promise<Buffer> {
  const { blobs, egress } = parts;
  const key = `pyodide/${wanted.sha256}`;
  const stored = await blobs.read(key);
  const kept = stored && (await buffer(stored));
  if (kept !== undefined && isWhole(kept, wanted)) {
    return kept;
  }
  const response = await egress.fetch(at(index, wanted.file_name), {
    trust: "operator",
    maxBytes: maxWheelBytes,
    timeoutMs: wheelMs,
  });
  if (!response.ok) {
    throw new AppError("upstream", `The index answered ${response.status} for the package ${wanted.name}.`);
  }
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!isWhole(bytes, wanted)) {
    throw new AppError("upstream", `The package ${wanted.name} is not what its hash in the index says.`);
  }
  await blobs.write(key, Readable.from([bytes]));
  return bytes;
}

const isWhole = (bytes: Buffer, { sha256 }: LockedPackage) =>
  createHash("sha256").update(bytes).digest("hex") === sha256;

const at = (index: string, file: string) => `${index.replace(/(?<!\/)\/+$/, "")}/${file}`;
