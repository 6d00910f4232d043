import type { Readable } from "node:stream";

/** First and last byte, both included, as in an HTTP range. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Stored bytes under keys of the server's making. A key is there with all its bytes or not at all. */
export interface Blobs {
  /** The most bytes of one key; null when the place has no limit of its own. */
  readonly maxBytes: number | null;
  /** Stores a stream; when it fails or is aborted nothing stays behind. Overwrites. */
  write(
    key: string,
    bytes: AsyncIterable<Uint8Array> | Readable,
    options?: { signal?: AbortSignal },
  ): Promise<{ size: number; sha256: string }>;
  /** The bytes or a range of them; undefined when there are none. The caller reads or destroys the stream. */
  read(key: string, range?: ByteRange): Promise<Readable | undefined>;
  size(key: string): Promise<number | undefined>;
  /** Removes the bytes; it is no error when there are none. */
  remove(key: string): Promise<void>;
  /** All keys that begin with `prefix`. */
  keys(prefix?: string): Promise<string[]>;
  /** Removes what killed processes left half-written and untouched for that long; resolves to the number. */
  sweepTemporary(maxAgeMs: number): Promise<number>;
}

/** The variables of config/core-storage.ts. */
export interface BlobOptions {
  readonly dataDir: string;
  readonly storageProvider?: string | null;
  readonly s3AccessKeyId?: string | null;
  readonly s3SecretAccessKey?: string | null;
  readonly s3EndpointUrl?: string | null;
  readonly s3RegionName?: string | null;
  readonly s3BucketName?: string | null;
  readonly s3KeyPrefix?: string | null;
  readonly s3AddressingStyle?: "auto" | "path" | "virtual";
  readonly s3UseAccelerateEndpoint?: boolean;
  readonly s3EnableTagging?: boolean;
}
