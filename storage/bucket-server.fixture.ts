import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import type { BlobOptions } from "./blobs.ts";

/** Starts an object store with an empty bucket that speaks S3, in a process of its own on a free port. */
export async function openBucketServer(
  directory: string,
): Promise<{ options: Partial<BlobOptions>; close(): Promise<void> }> {
  await mkdir(directory, { recursive: true });
  // The store makes its page tokens with an old cipher that has to be allowed.
  const child = fork(new URL(import.meta.url).pathname, [directory], {
    execArgv: ["--openssl-legacy-provider"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [port] = (await once(child, "message")) as [number];
  return {
    options: {
      storageProvider: "s3",
      s3EndpointUrl: `http://127.0.0.1:${port}`,
      s3RegionName: "us-east-1",
      s3BucketName: "bucket",
      s3AccessKeyId: "S3RVER",
      s3SecretAccessKey: "S3RVER",
    },
    async close() {
      const gone = once(child, "exit");
      child.kill();
      await gone;
    },
  };
}

if (process.send && process.argv[1] === new URL(import.meta.url).pathname) {
  // The package has no types.
  const Server = createRequire(import.meta.url)("s3rver") as new (options: object) => {
    run(): Promise<{ port: number }>;
  };
  const [, , directory] = process.argv;
  const settings = { address: "127.0.0.1", port: 0, silent: true, directory };
  const { port } = await new Server({
    ...settings,
    configureBuckets: [{ name: "bucket", configs: [] }],
  }).run();
  process.on("disconnect", () => process.exit(0));
  process.send(port);
}
