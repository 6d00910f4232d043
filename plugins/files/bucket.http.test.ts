import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openBucketServer } from "#storage/bucket-server.fixture.ts";
import { type App, startApp, type TestUser } from "#test/support/app.ts";
import { upload } from "./client.fixture.ts";

let app: App;
let owner: TestUser;
let folder: string;
let server: Awaited<ReturnType<typeof openBucketServer>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bucket-"));
  server = await openBucketServer(folder);
  const { s3EndpointUrl, s3RegionName, s3BucketName, s3AccessKeyId, s3SecretAccessKey } = server.options;
  app = await startApp({
    env: {
      STORAGE_PROVIDER: "s3",
      S3_ENDPOINT_URL: String(s3EndpointUrl),
      S3_REGION_NAME: String(s3RegionName),
      S3_BUCKET_NAME: String(s3BucketName),
      S3_ACCESS_KEY_ID: String(s3AccessKeyId),
      S3_SECRET_ACCESS_KEY: String(s3SecretAccessKey),
    },
  });
  owner = await app.user();
});
afterAll(async () => {
  await app?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Says how much is coming and sends its beginning. */
async function announce(bytes: number): Promise<number | undefined> {
  const asked = request(`${app.url}/api/v1/files/`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${owner.token}`,
      "content-type": "multipart/form-data; boundary=b",
      "content-length": bytes,
    },
  });
  asked.on("error", () => {});
  asked.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\n\r\nfirst bytes');
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  asked.destroy();
  return answer.statusCode;
}

it("what a bucket would not take is refused before it is sent", async () => {
  expect(await announce(5 * 1024 ** 3 + 9 * 1024 ** 2)).toBe(413);
  const small = await upload(app, ["a.txt", "small"], { token: owner.token, query: "?process=false" });
  expect(small.status).toBe(200);
  await app.running.registry.set({ RAG_FILE_MAX_SIZE: 1 }, null);
  expect(await announce(20 * 1024 ** 2)).toBe(413);
});
