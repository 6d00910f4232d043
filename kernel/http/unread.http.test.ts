import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { App } from "#test/support/app.ts";
import { useApp } from "#test/support/shared-apps.ts";

let app: App;
beforeAll(async () => void (app = await useApp({ env: { RAG_FILE_MAX_SIZE: "1" } })));
afterAll(() => app.close());

const size = 8 * 1024 * 1024;

/** Sends a head and the beginning of a body, and gives the socket with what comes back. */
async function begin(head: readonly string[]) {
  const { hostname, port } = new URL(app.url);
  const socket: Socket = connect(Number(port), hostname);
  const seen = { text: "", error: undefined as Error | undefined, ended: false };
  socket.on("data", (piece: Buffer) => void (seen.text += String(piece)));
  socket.on("error", (error) => void (seen.error = error));
  socket.on("end", () => void (seen.ended = true));
  await once(socket, "connect");
  const lines = [...head, "host: localhost", `content-length: ${size}`];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return { socket, seen };
}

const cases: readonly (readonly [name: string, path: string, hasToken: boolean, status: number])[] = [
  ["without a credential", "/api/v1/files/", false, 401],
  ["in a type that no form has", "/api/v1/files/", true, 400],
  ["to nowhere", "/api/v1/nowhere", false, 404],
];

it.each(cases)("lets a sender %s read the answer and finish", async (_case, path, hasToken, status) => {
  const token = hasToken ? (await app.admin()).token : undefined;
  const { socket, seen } = await begin([
    `POST ${path} HTTP/1.1`,
    "content-type: text/plain",
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
  ]);
  await expect.poll(() => seen.text, { timeout: 10_000 }).toMatch(/\r\n\r\n\{.*\}$/s);
  expect(seen.text).toContain(`HTTP/1.1 ${status} `);
  expect(seen.text.toLowerCase()).toContain("connection: close");
  // The rest comes later, as from a slow line.
  await pause(200);
  expect(seen.ended).toBe(false);
  socket.write("x".repeat(size));
  await expect.poll(() => seen.ended, { timeout: 10_000 }).toBe(true);
  expect(seen.error).toBeUndefined();
  socket.destroy();
});

it("tells every sender of a refused form why", async () => {
  const [{ token }, file] = [await app.admin(), new Blob([new Uint8Array(3 * 1024 * 1024)])];
  const send = async (given: string | undefined) => {
    const form = new FormData();
    form.append("file", file, "large.bin");
    return (await app.call("POST /api/v1/files/", { token: given, body: form })).status;
  };
  for (let round = 0; round < 8; round += 1) {
    expect([await send(undefined), await send(token)]).toEqual([401, 413]);
  }
});
