import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toAddress } from "./blobs/address.ts";
import { openBlobs, type BlobOptions, type Blobs } from "./blobs.ts";
import { openBucketServer } from "./bucket-server.fixture.ts";
import { isUnavailable } from "./errors.ts";

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
const read = async (stream: Readable | undefined) => (stream ? await text(stream) : undefined);

const listFiles = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

async function* failing() {
  yield new Uint8Array(100_000);
  throw new Error("broke off");
}

/** Gives some bytes and then nothing more; `begun` resolves once they were taken. */
function stalling() {
  const begun = Promise.withResolvers<void>();
  async function* bytes() {
    yield new Uint8Array(1_000);
    begun.resolve();
    await new Promise(() => {});
  }
  return { begun: begun.promise, bytes: bytes() };
}

describe.each<["folder" | "bucket" | "bucket with a prefix"]>([
  ["folder"],
  ["bucket"],
  ["bucket with a prefix"],
])("blobs in a %s", (kind) => {
  let dataDir: string;
  let blobs: Blobs;
  let options: BlobOptions;
  let closeServer = async () => {};
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "blobs-"));
    options = { dataDir };
    if (kind !== "folder") {
      const server = await openBucketServer(join(dataDir, "server"));
      closeServer = server.close;
      options = { ...options, ...server.options, s3KeyPrefix: kind === "bucket" ? "" : "/some/prefix/" };
    }
    blobs = await openBlobs(options);
  });
  afterAll(async () => {
    await closeServer();
    await rm(dataDir, { recursive: true, force: true });
  });

  test("gives back what was stored, whole and in ranges", async () => {
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const written = await blobs.write(
      "files/1/one",
      Readable.from([bytes.subarray(0, 1_000), bytes.subarray(1_000)]),
    );
    expect(written).toEqual({ size: bytes.length, sha256: sha256(bytes) });
    expect(await blobs.size("files/1/one")).toBe(bytes.length);
    expect(bytes.equals(await buffer((await blobs.read("files/1/one"))!))).toBe(true);
    const part = await buffer((await blobs.read("files/1/one", { start: 250, end: 1_249 }))!);
    expect(bytes.subarray(250, 1_250).equals(part)).toBe(true);
    const tail = await buffer((await blobs.read("files/1/one", { start: 299_999, end: 400_000 }))!);
    expect([...tail]).toEqual([bytes[299_999]]);
    expect(await read(await blobs.read("files/1/one", { start: 300_000, end: 300_001 }))).toBe("");
  });

  test("stores nothing as nothing, and overwrites", async () => {
    expect(await blobs.write("empty", Readable.from([]))).toEqual({ size: 0, sha256: sha256("") });
    expect(await blobs.size("empty")).toBe(0);
    expect(await read(await blobs.read("empty"))).toBe("");
    await blobs.write("empty", Readable.from([Buffer.from("now more")]));
    expect(await read(await blobs.read("empty"))).toBe("now more");
  });

  test("lists keys by prefix and forgets removed ones", async () => {
    for (const key of ["list/a", "list/b/c.txt", "listed"]) {
      await blobs.write(key, Readable.from([Buffer.from(key)]));
    }
    expect(await blobs.keys("list/")).toEqual(["list/a", "list/b/c.txt"]);
    expect(await blobs.keys()).toEqual(expect.arrayContaining(["list/a", "listed"]));
    await blobs.remove("list/a");
    await blobs.remove("list/a");
    expect(await blobs.keys("list/")).toEqual(["list/b/c.txt"]);
    expect(await blobs.read("list/a")).toBeUndefined();
    expect(await blobs.size("list/a")).toBeUndefined();
  });

  test.each([
    "../up",
    "a/../../b",
    "/etc/passwd",
    "a//b",
    "a/",
    "",
    "a\0b",
    "a\\b",
    "..",
    ".incoming/x",
    "a/.hidden",
    "ü",
    "a:b",
    "x".repeat(501),
  ])("refuses the key %j everywhere", async (key) => {
    await expect(blobs.write(key, Readable.from([]))).rejects.toThrow(/no key/);
    await expect(blobs.read(key)).rejects.toThrow(/no key/);
    await expect(blobs.size(key)).rejects.toThrow(/no key/);
    await expect(blobs.remove(key)).rejects.toThrow(/no key/);
  });

  test("leaves nothing behind when the stream fails or is aborted", async () => {
    await expect(blobs.write("broken/one", failing())).rejects.toThrow("broke off");
    const stop = new AbortController();
    const { begun, bytes } = stalling();
    const writing = blobs.write("broken/two", bytes, { signal: stop.signal });
    await begun;
    stop.abort(new Error("client left"));
    await expect(writing).rejects.toThrow("client left");
    await expect(
      blobs.write("broken/three", Readable.from([Buffer.from("x")]), { signal: stop.signal }),
    ).rejects.toThrow("client left");
    expect(await blobs.keys("broken/")).toEqual([]);
    expect(await listFiles(join(dataDir, "uploads", ".incoming"))).toEqual([]);
  });

  test("keeps the old bytes when overwriting fails", async () => {
    await blobs.write("kept", Readable.from([Buffer.from("old")]));
    await expect(blobs.write("kept", failing())).rejects.toThrow("broke off");
    expect(await read(await blobs.read("kept"))).toBe("old");
  });

  test("sweeps what killed processes left half-written, when it is old enough", async () => {
    const folder = join(dataDir, "uploads", ".incoming");
    await writeFile(join(folder, "old"), "x");
    await writeFile(join(folder, "new"), "x");
    const now = new Date();
    const past = new Date(now.getTime() - 700_000);
    await utimes(join(folder, "old"), past, past);
    await utimes(join(folder, "new"), now, now);
    expect(await blobs.sweepTemporary(600_000)).toBe(1);
    expect(await readdir(folder)).toEqual(["new"]);
    await utimes(join(folder, "new"), past, past);
    expect(await blobs.sweepTemporary(600_000)).toBe(1);
  });

  test.skipIf(kind !== "bucket")("lists more keys than the store tells at once", async () => {
    const keys = Array.from({ length: 1_050 }, (_, index) => `many/${String(index).padStart(4, "0")}`);
    for (let start = 0; start < keys.length; start += 50) {
      await Promise.all(
        keys.slice(start, start + 50).map((key) => blobs.write(key, Readable.from([Buffer.from("x")]))),
      );
    }
    expect(await blobs.keys("many/")).toEqual(keys);
  });

  test.skipIf(kind !== "bucket")(
    "tells a refusal from a store that is down, without the secret",
    async () => {
      const other = await openBlobs({
        ...options,
        s3AccessKeyId: "unknown",
        s3SecretAccessKey: "wrong-secret",
      });
      const refused: unknown = await other.size("x").catch((error: unknown) => error);
      expect(String(refused)).toMatch(/answered 403/);
      expect(isUnavailable(refused)).toBe(false);
      const down = await openBlobs({ ...options, s3EndpointUrl: "http://127.0.0.1:1" });
      const gone: unknown = await down.read("x").catch((error: unknown) => error);
      expect(isUnavailable(gone)).toBe(true);
      expect(String(refused) + String(gone)).not.toContain("wrong-secret");
    },
  );
});

describe("a full disk", () => {
  test("ends the write with an error and leaves nothing behind", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "blobs-"));
    const script = new URL("full-disk.fixture.ts", import.meta.url).pathname;
    // The system refuses to let files grow beyond 64 KB, in the middle of a write as a full disk does.
    const child = spawn("sh", [
      "-c",
      `ulimit -f 128; exec "$0" "$1" "$2"`,
      process.execPath,
      script,
      dataDir,
    ]);
    const [output] = await Promise.all([text(child.stdout), once(child, "exit")]);
    expect(JSON.parse(output)).toEqual({ failed: true, keys: ["small"], left: [] });
    await rm(dataDir, { recursive: true });
  });
});

describe("opening", () => {
  test.each<[Partial<BlobOptions>, RegExp]>([
    [{ storageProvider: "gcs" }, /"gcs" is not known/],
    [{ storageProvider: "s3" }, /S3_BUCKET_NAME/],
    [{ storageProvider: "s3", s3BucketName: "b" }, /S3_ACCESS_KEY_ID/],
    [{ storageProvider: "s3", s3BucketName: "b", s3EndpointUrl: "nowhere" }, /S3_ENDPOINT_URL/],
  ])("refuses %j with what is missing", async (options, message) => {
    await expect(openBlobs({ dataDir: tmpdir(), ...options })).rejects.toThrow(message);
  });

  test.each<[Partial<BlobOptions>, string]>([
    [{}, "https://bucket.s3.us-east-1.amazonaws.com"],
    [{ s3RegionName: "eu-central-1" }, "https://bucket.s3.eu-central-1.amazonaws.com"],
    [{ s3AddressingStyle: "path" }, "https://s3.us-east-1.amazonaws.com/bucket"],
    [{ s3EndpointUrl: "http://store:9000/" }, "http://store:9000/bucket"],
    [{ s3EndpointUrl: "https://store/base/" }, "https://store/base/bucket"],
    [{ s3EndpointUrl: "https://store", s3AddressingStyle: "virtual" }, "https://bucket.store"],
    [{ s3UseAccelerateEndpoint: true }, "https://bucket.s3-accelerate.amazonaws.com"],
  ])("with %j the bucket is at %s", (options, address) => {
    expect(toAddress({ dataDir: "/", s3BucketName: "bucket", ...options })).toBe(address);
  });
});
