import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { type ClientRequest, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openBlobs } from "#storage/blobs.ts";
import type { TestDataDir } from "#storage/testing.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";

// Promise R8: an upload is complete or absent, whenever the server dies or the client leaves.

const kills = process.env["FAULTS"] === "full" ? 20 : 2;
const canLimit = process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0;
const size = 512 * 1024;
/** How much of an upload was sent when the fault comes. */
const points = [0, 0.001, 0.1, 0.5, 0.9, 0.999, 1, 1];

let place: TestDataDir;
let server: ServerProcess;
let token: string;
/** Hash of the content by file name, and the names whose upload was answered with 200. */
const sent = new Map<string, string>();
const acknowledged = new Set<string>();

beforeAll(async () => {
  place = await preparePlatformDataDir();
  server = await startProcess(place.env);
  const person = { name: "admin", email: "admin@example.test", password: "Correct-horse-1" };
  token = (await json("POST", "/api/v1/auths/signup", person)).token as string;
});

afterAll(async () => {
  await server.kill();
  await place.remove();
});

async function json(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token ?? ""}` };
  const answer = await fetch(server.url + path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

/** Sends a share of an upload and leaves the rest unsent. */
async function send(name: string, share: number): Promise<ClientRequest> {
  const content = randomBytes(size);
  sent.set(name, createHash("sha256").update(content).digest("hex"));
  const head = `--edge\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from("\r\n--edge--\r\n")]);
  const upload = request(`${server.url}/api/v1/files/?process=false`, {
    method: "POST",
    headers: {
      "content-type": "multipart/form-data; boundary=edge",
      "content-length": body.length,
      authorization: `Bearer ${token}`,
    },
  });
  upload.on("error", () => undefined);
  upload.on("response", (response) => {
    if (response.statusCode === 200) {
      acknowledged.add(name);
    }
    response.on("error", () => undefined).resume();
  });
  const part = body.subarray(0, Math.floor(body.length * share));
  upload.flushHeaders();
  await new Promise<void>((resolve) =>
    upload.write(part.length === 0 ? Buffer.alloc(0) : part, () => resolve()),
  );
  if (share === 1) {
    upload.end();
  }
  return upload;
}

interface Listed {
  id: string;
  filename: string;
  hash: string;
}

async function listAll(): Promise<Listed[]> {
  const all: Listed[] = [];
  for (let page = 1; ; page += 1) {
    const { items } = (await json("GET", `/api/v1/files/?page=${page}&content=false`)) as unknown as {
      items: Listed[];
    };
    if (items.length === 0) {
      return all;
    }
    all.push(...items);
  }
}

/** Every record has all its bytes, and every answered upload its record. */
async function expectWhole(): Promise<void> {
  const files = await listAll();
  const names = files.map(({ filename }) => filename);
  expect(new Set(names).size).toBe(names.length);
  expect([...acknowledged].filter((name) => !names.includes(name))).toEqual([]);
  for (const { id, filename, hash } of files) {
    const answer = await fetch(`${server.url}/api/v1/files/${id}/content`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).toBe(200);
    const bytes = createHash("sha256")
      .update(Buffer.from(await answer.arrayBuffer()))
      .digest("hex");
    expect([filename, hash, bytes]).toEqual([filename, sent.get(filename), sent.get(filename)]);
  }
}

async function listStored(): Promise<string[]> {
  const folder = join(place.env["DATA_DIR"] as string, "uploads");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

it("a client that leaves at any point leaves nothing behind", async () => {
  for (const [index, share] of points.filter((share) => share < 1).entries()) {
    const upload = await send(`left-${index}`, share);
    if (share >= 0.1) {
      // The server is in the middle of it, not still on its way to the handler.
      await expect.poll(listStored).toHaveLength(1);
    }
    upload.destroy();
    await expect.poll(listStored, { timeout: 10_000 }).toEqual([]);
  }
  expect(await listAll()).toEqual([]);
});

it.skipIf(!canLimit)(
  "an upload that the disk has no room for is refused and leaves nothing behind",
  async () => {
    // No file of the process may grow beyond the limit from now on; the write that crosses it fails like on a full disk.
    execFileSync("prlimit", [`--pid=${server.child.pid}`, `--fsize=${32 * 1024 * 1024}`]);
    const body = new FormData();
    body.append("file", new File([randomBytes(40 * 1024 * 1024)], "too-much"));
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/api/v1/files/?process=false`, {
      method: "POST",
      headers,
      body,
    });
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { detail: "There is no room left on the server's disk." },
    ]);
    expect(await listStored()).toEqual([]);
    expect(await listAll()).toEqual([]);
  },
);

it(`an upload is complete or absent after each of ${kills} kills`, { timeout: 60_000 * kills }, async () => {
  for (let round = 0; round < kills; round += 1) {
    const uploads = points.map((share, index) => send(`killed-${round}-${index}`, share));
    await Promise.all(uploads);
    // Rounds differ in how far the complete ones get: hashing, renaming, inserting, answering.
    await pause(round * 3);
    await server.kill();
    server = await startProcess(place.env);
    await expectWhole();
  }
  await send("after", 1);
  await expect.poll(() => acknowledged.has("after"), { timeout: 10_000 }).toBe(true);
  await expectWhole();
});

it("what the kills left half-written is swept, and nothing else", async () => {
  const files = await listAll();
  await server.stop();
  const blobs = await openBlobs({ dataDir: place.env["DATA_DIR"] as string });
  await blobs.sweepTemporary(0);
  const keys = await blobs.keys("files/");
  // Bytes whose row did not come in time stay for the sweep; every row's bytes are there.
  expect(files.filter(({ id }) => !keys.some((key) => key.endsWith(id)))).toEqual([]);
  expect((await listStored()).length).toBe(keys.length);
  server = await startProcess(place.env);
  await expectWhole();
});
