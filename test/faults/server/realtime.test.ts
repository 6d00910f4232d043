import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { Client } from "pg";
import { io } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstAdmin } from "#test/support/client.ts";
import { report } from "#test/support/faults.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";
import { connectPlain, connectSocketIo, type PlainClient, within } from "#test/support/sockets.ts";
import { testServer } from "#storage/testing.ts";

const server = testServer();
const redisUrl = process.env["TEST_REDIS_URL"];
const stage = fileURLToPath(new URL("../../support/stage", import.meta.url));

const ways: [string, boolean, (name: string) => Record<string, string>, (name: string) => Promise<void>][] = [
  ["the database", false, () => ({}), cutDatabase],
  [
    "Redis (needs TEST_REDIS_URL)",
    !redisUrl,
    (name) => ({
      REDIS_URL: redisUrl as string,
      REDIS_KEY_PREFIX: name,
      WEBSOCKET_REDIS_OPTIONS: JSON.stringify({ connectionName: name }),
    }),
    cutRedis,
  ],
];

describe.each(ways)("three replicas over %s", (_way, isSkipped, toEnvironment, cut) => {
  describe.skipIf(isSkipped)("(promises R4, R27)", () => {
    const name = `realtime_${randomUUID().replaceAll("-", "")}`;
    let folder: string;
    let replicas: ServerProcess[];
    let start: (at: number, port?: string) => Promise<ServerProcess>;
    let admin: string;
    let user: { id: string; token: string };

    beforeAll(async () => {
      await run(`create database ${name}`);
      folder = await mkdtemp(join(tmpdir(), "realtime-"));
      const url = new URL(server as string);
      url.pathname = `/${name}`;
      const environment = toEnvironment(name);
      start = (at, port = "0") =>
        startProcess({
          PORT: port,
          DATABASE_URL: url.href,
          DATA_DIR: join(folder, String(at)),
          PLUGINS_PATH: stage,
          SHUTDOWN_GRACE_SECONDS: "5",
          ...environment,
        });
      replicas = [await start(1), ...(await Promise.all([start(2), start(3)]))];
      admin = await firstAdmin(replicas[0]!.url);
      user = await makeUser();
    }, 120_000);

    afterAll(async () => {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await run(`drop database if exists ${name} with (force)`);
      await rm(folder, { recursive: true, force: true });
    });

    async function call(at: number, path: string, body: unknown, token = admin) {
      const answer = await fetch(`${replicas[at]!.url}/api/v1/${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === "" ? undefined : JSON.parse(text) };
    }
    async function makeUser() {
      const account = { name: "Bo", email: `${randomUUID()}@example.test`, password: "Correct-horse-1" };
      await call(0, "auths/add", { ...account, role: "user" });
      return (await call(0, "auths/signin", account)).body as { id: string; token: string };
    }
    async function connectAll(token = user.token): Promise<PlainClient[]> {
      const clients = await Promise.all(replicas.map(({ url }) => connectPlain(url, { token })));
      await Promise.all(clients.map((client) => client.sessionId()));
      return clients;
    }
    const room = () => `user:${user.id}`;
    const numbers = (client: PlainClient) =>
      client.events.filter(({ event }) => event === "events").map(({ data }) => data.at as number);

    it("events reach every connection once and in order, small and large ones mixed", async () => {
      const clients = await connectAll();
      const begun = performance.now();
      const count = 3_000;
      const sent = { room: room(), size: 200, big: { every: 100, size: 100_000 } };
      expect((await call(0, "stage/emit", { ...sent, count })).status).toBe(200);
      await Promise.all(clients.map((client) => client.event((_name, data) => data.at === count)));
      report("R27", `${count} events to two other replicas`, { ms: performance.now() - begun });
      const all = Array.from({ length: count }, (_, at) => at + 1);
      for (const client of clients) {
        expect(numbers(client)).toEqual(all);
        expect(client.events.find(({ data }) => data.at === 100)?.data.text).toBe('ä\n\t"'.repeat(25_000));
        client.close();
      }
    });

    it("what each replica emits stays in its order while all emit", async () => {
      const clients = await connectAll();
      const starts = [10_000, 20_000, 30_000];
      await Promise.all(starts.map((from, at) => call(at, "stage/emit", { room: room(), from, count: 500 })));
      for (const client of clients) {
        await Promise.all(starts.map((from) => client.event((_name, data) => data.at === from + 499)));
        for (const from of starts) {
          const own = numbers(client).filter((at) => at >= from && at < from + 10_000);
          expect(own).toEqual(Array.from({ length: 500 }, (_, at) => from + at));
        }
        client.close();
      }
    });

    it("a session is asked from any replica, and nobody else's", async () => {
      const client = await connectPlain(replicas[2]!.url, {
        token: user.token,
        answer: () => ({ yes: "ü" }),
      });
      const socket = await connectSocketIo(replicas[1]!.url, user.token);
      socket.on("events", (_data, answer) => answer?.("from socket.io"));
      const ask = (sessionId: string | undefined, userId = user.id) =>
        call(0, "stage/ask", { userId, sessionId });
      expect((await ask(await client.sessionId())).body).toEqual({ answer: { yes: "ü" } });
      expect((await ask(socket.id)).body).toEqual({ answer: "from socket.io" });
      const refused = { status: 503, body: { detail: "Client session disconnected." } };
      expect(await ask(await client.sessionId(), (await makeUser()).id)).toMatchObject(refused);
      expect(await ask("nonsense")).toMatchObject(refused);
      client.close();
      socket.disconnect();
    });

    it("a question ends when the time is over, and when the client leaves", async () => {
      const client = await connectPlain(replicas[2]!.url, { token: user.token });
      const sessionId = await client.sessionId();
      expect((await call(0, "stage/ask", { userId: user.id, sessionId, timeoutMs: 300 })).status).toBe(504);
      const leaving = call(0, "stage/ask", { userId: user.id, sessionId });
      await client.event((_name, data) => data.question !== undefined);
      client.close();
      expect(await leaving).toMatchObject({ status: 503 });
    });

    it("people are brought into rooms and out of them wherever they are connected", async () => {
      const clients = await connectAll();
      await call(0, "stage/join", { userId: user.id, room: "channel:k" });
      await call(0, "stage/emit", { room: "channel:k", from: 1 });
      await Promise.all(clients.map((client) => client.event((_name, data) => data.at === 1)));
      await call(0, "stage/leave", { userId: user.id, room: "channel:k" });
      await call(0, "stage/emit", { room: "channel:k", from: 2 });
      await call(0, "stage/emit", { room: room(), from: 3 });
      await Promise.all(clients.map((client) => client.event((_name, data) => data.at === 3)));
      expect(clients.map(numbers)).toEqual([
        [1, 3],
        [1, 3],
        [1, 3],
      ]);
      clients.forEach((client) => client.close());
    });

    it("models in use and people are counted over all of them", async () => {
      const clients = await connectAll();
      await Promise.all(clients.map((client, at) => client.emit("usage", { model: `model-${at}` })));
      const answer = await fetch(`${replicas[1]!.url}/api/usage`, {
        headers: { authorization: `Bearer ${admin}` },
      });
      expect(await answer.json()).toEqual({ model_ids: ["model-0", "model-1", "model-2"], user_count: 1 });
      clients.forEach((client) => client.close());
    });

    it("signing out on one ends the connections on all within two seconds", async () => {
      const other = await makeUser();
      const clients = await connectAll(other.token);
      const socket = await connectSocketIo(replicas[1]!.url, other.token);
      const gone = new Promise((resolve) => socket.once("disconnect", resolve));
      const begun = performance.now();
      await call(0, "auths/signout", {}, other.token);
      for (const client of clients) {
        expect(await within(2_000, client.closed)).toMatchObject({ code: 4001 });
      }
      expect(await within(2_000, gone)).toBe("io server disconnect");
      report("S99", "sockets of a signed-out session", { ms: performance.now() - begun });
    });

    it("events flow again after the way between replicas was cut", async () => {
      const clients = await connectAll();
      const told = clients.map((client) => client.event((event) => event === "resync"));
      await cut(name);
      const arrived = async (at: number) => {
        await call(0, "stage/emit", { room: room(), from: at });
        const seen = clients.map((client) => client.event((_name, data) => data.at === at));
        return (await within(500, Promise.all(seen))) !== undefined;
      };
      const begun = performance.now();
      let at = 50_000;
      while (!(await arrived((at += 1))) && performance.now() - begun < 10_000) {
        await pause(50);
      }
      report("R14", "events reach the others again after the cut", { ms: performance.now() - begun });
      expect(performance.now() - begun).toBeLessThan(5_000);
      // What was emitted meanwhile is lost: clients have to look again.
      const resync = { instance_id: expect.any(String) };
      expect(await within(10_000, Promise.all(told))).toEqual(clients.map(() => resync));
      clients.forEach((client) => client.close());
    });

    it("a replica that stops sends its clients elsewhere, and questions to them end", async () => {
      const client = await connectPlain(replicas[2]!.url, { token: user.token });
      const question = call(0, "stage/ask", { userId: user.id, sessionId: await client.sessionId() });
      await client.event((_name, data) => data.question !== undefined);
      const stopped = replicas[2]!.stop();
      expect(await within(2_000, client.closed)).toMatchObject({ code: 1012 });
      expect(await within(2_000, question)).toMatchObject({ status: 503 });
      expect(await within(8_000, stopped)).toBe(0);
      replicas[2] = await start(3);
      const [here] = await connectAll();
      await call(2, "stage/emit", { room: room(), from: 60_000 });
      await here?.event((_name, data) => data.at === 60_000);
    });

    it("a client whose replica dies comes back by itself and hears on", async () => {
      const port = new URL(replicas[1]!.url).port;
      const socket = io(replicas[1]!.url, {
        path: "/ws/socket.io",
        transports: ["websocket"],
        auth: { token: user.token },
        reconnectionDelay: 100,
      });
      await new Promise<void>((resolve) => socket.once("connect", resolve));
      await replicas[1]!.kill();
      replicas[1] = await start(2, port);
      await new Promise<void>((resolve) => (socket.connected ? resolve() : socket.once("connect", resolve)));
      const heard = new Promise((resolve) => socket.once("events", resolve));
      await call(0, "stage/emit", { room: room(), from: 70_000 });
      expect(await within(3_000, heard)).toMatchObject({ at: 70_000 });
      socket.disconnect();
    });
  });
});

async function run(statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** Ends every connection of the replicas, those that listen too. */
async function cutDatabase(name: string): Promise<void> {
  await run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
}

async function cutRedis(name: string): Promise<void> {
  const client = new Redis(redisUrl as string);
  const clients = String(await client.client("LIST")).split("\n");
  const ids = clients
    .filter((line) => line.includes(`name=${name} `))
    .map((line) => /^id=(\d+)/.exec(line)?.[1]);
  expect(ids.length).toBe(6);
  await Promise.all(ids.map((id) => client.client("KILL", "ID", Number(id))));
  client.disconnect();
}
