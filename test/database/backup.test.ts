// Takes long: filled installations are backed up, restored and moved between the embedded database and servers.
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "#kernel/command.ts";
import { catalogue } from "#plugins/catalogue.ts";
import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { type App, startApp } from "#test/support/app.ts";
import { type PostgresServer, startPostgres } from "#test/support/postgres.ts";
import { fill, filledEnvironment } from "./filled.fixture.ts";
import { withClient } from "./read-tables.ts";

const env = { ...filledEnvironment, ENABLE_GATEWAY: "true", GATEWAY_PORT: "0", GLOBAL_LOG_LEVEL: "ERROR" };
const password = "Correct-horse-1";
let folder: string;
let server: PostgresServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "backup-"));
  server = await startPostgres();
});
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Place {
  readonly env: Record<string, string>;
}
let places = 0;

/** An empty installation. */
async function makePlace(kind: "embedded" | "server"): Promise<Place> {
  places += 1;
  const place = { DATA_DIR: join(folder, `data-${places}`) };
  if (kind === "embedded") {
    return { env: place };
  }
  await withClient(server.url, (client) => client.query(`create database place_${places}`));
  return { env: { ...place, DATABASE_URL: new URL(`/place_${places}`, server.url).href } };
}

/** Runs a command as an operator does; resolves to what it printed. */
async function command(name: string, place: Place, words: string[], options: Record<string, string> = {}) {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  await runCommand(name, { catalogue, environment: { ...env, ...place.env }, options, words, print });
  return lines;
}

interface Filled {
  readonly app: App;
  readonly chatId: string;
  readonly fileId: string;
  readonly content: Buffer;
}

async function startOn({ env: place }: Place): Promise<App> {
  const database = place["DATABASE_URL"] === undefined ? "embedded" : "server";
  return await startApp({ env: { ...env, ...place }, database });
}

async function startFilled(place: Place): Promise<Filled> {
  const app = await startOn(place);
  const chatId = await fill(app);
  const admin = await app.admin();
  const content = randomBytes(3 * 1024 * 1024);
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(content)]), "Größe 🦔.bin");
  const file = await admin.call("POST /api/v1/files/?process=false", form);
  expect(file.status).toBe(200);
  return { app, chatId, fileId: file.body.id, content };
}

/** Starts on an installation that came back, and looks at it as its people do. */
async function expectWhole(place: Place, { chatId, fileId, content }: Omit<Filled, "app">): Promise<void> {
  const app = await startOn(place);
  try {
    const body = { email: "admin@example.test", password };
    const signedIn = await app.call("POST /api/v1/auths/signin", { body });
    expect(signedIn.status).toBe(200);
    const { token } = signedIn.body;
    const found = await app.call("GET /api/v1/chats/search?text=kingfisher", { token });
    expect(found.body.map(({ id }: { id: string }) => id)).toEqual([chatId]);
    const answer = await fetch(`${app.url}/api/v1/files/${fileId}/content`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(Buffer.from(await answer.arrayBuffer()).equals(content)).toBe(true);
    const later = await chatClient(app, token).make({ ...conversation(), title: "Later" });
    expect(later.id).toBeTypeOf("string");
  } finally {
    await app.close();
  }
}

describe.each(["embedded", "server"] as const)("a backup of a running installation (%s)", (kind) => {
  let filled: Filled;
  let source: Place;
  let archive: string;

  beforeAll(async () => {
    source = await makePlace(kind);
    filled = await startFilled(source);
    archive = join(folder, `${kind}.tar.gz`);
    const printed = await command("backup", source, [archive]);
    expect(printed.at(-1)).toContain(`Backed up to ${archive}`);
  });
  afterAll(() => filled?.app.close());

  test.each(["embedded", "server"] as const)("comes back whole (%s)", async (into) => {
    const place = await makePlace(into);
    expect((await command("restore", place, [archive])).at(-1)).toMatch(/^Restored: \d+ rows in \d+ tables/);
    await expectWhole(place, filled);
    // Nothing is overwritten that somebody uses.
    await expect(command("restore", place, [archive])).rejects.toThrow("The database is in use");
    await command("restore", place, [archive], { replace: "" });
    await expectWhole(place, filled);
  });

  test("is verified without a trace", async () => {
    const place = await makePlace("embedded");
    const printed = await command("restore", place, [archive], { verify: "" });
    expect(printed.at(-1)).toContain("The backup comes back whole");
    expect(existsSync(join(place.env["DATA_DIR"]!, "database"))).toBe(false);
  });

  test("is told damaged wherever it is, and nothing is made of it", async () => {
    const bytes = await readFile(archive);
    const damaged = join(folder, "damaged.tar.gz");
    const spots = Array.from({ length: 12 }, (_, at) => Math.floor(((at + 0.5) / 12) * bytes.length));
    for (const spot of spots) {
      const flipped = Buffer.from(bytes);
      flipped[spot]! ^= 0x10;
      for (const content of [flipped, bytes.subarray(0, spot)]) {
        await writeFile(damaged, content);
        const place = await makePlace("embedded");
        await expect(command("restore", place, [damaged])).rejects.toThrow(/no whole backup|damaged/);
        expect(existsSync(place.env["DATA_DIR"]!)).toBe(false);
      }
    }
  });

  test("keeps its name to itself, and no half of it stays behind", async () => {
    await expect(command("backup", source, [archive])).rejects.toThrow("is there already");
    expect((await readdir(folder)).filter((name) => name.includes("unfinished"))).toEqual([]);
  });
});

test("a database moves to a server and back", async () => {
  const place = await makePlace("embedded");
  const { app, ...filled } = await startFilled(place);
  const there = await makePlace("server");
  const to = there.env["DATABASE_URL"]!;
  await expect(command("move", place, [], { to })).rejects.toThrow("already uses the embedded database");
  await app.close();
  expect((await command("move", place, [], { to })).at(-1)).toContain("every table is the same in both");
  const onServer = { env: { ...place.env, DATABASE_URL: to } };
  await expectWhole(onServer, filled);
  await expect(command("move", onServer, [], { to: "embedded" })).rejects.toThrow("The database is in use");
  await rm(join(place.env["DATA_DIR"]!, "database"), { recursive: true });
  await command("move", onServer, [], { to: "embedded" });
  await expectWhole(place, filled);
});

test.each([
  ["another file", "Not an archive."],
  ["an empty file", ""],
])("%s is refused in words", async (_what, content) => {
  const path = join(folder, "other.tar.gz");
  await writeFile(path, content);
  await expect(command("restore", await makePlace("embedded"), [path])).rejects.toThrow("no whole backup");
});
