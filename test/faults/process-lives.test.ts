import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TestDataDir } from "#storage/testing.ts";
import { callServer } from "#test/support/app.ts";
import { firstAdmin } from "#test/support/client.ts";
import { preparePlatformDataDir } from "#test/support/platform-database.ts";
import { type ServerProcess, startProcess } from "#test/support/process.ts";

/** A plugin that leaves a promise alone which then fails. */
const careless = `
import { z } from "zod";
import { defineRoute } from "#kernel/http/route.ts";
import { definePlugin } from "#kernel/plugin.ts";

export default definePlugin({
  id: "careless",
  title: "Careless",
  setup: () => ({
    routes: {
      api: [
        defineRoute(
          { method: "GET", path: "/careless", summary: "Fail later", access: "public", returns: z.literal(true) },
          () => {
            void Promise.reject(new Error("nobody waited for this"));
            return true;
          },
        ),
      ],
    },
  }),
});
`;

/** No request may end the process (promises 2.1, unbounded work). */
describe("the process goes on", () => {
  let folder: string;
  let place: TestDataDir;
  let server: ServerProcess;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "lives-"));
    await mkdir(join(folder, "careless"));
    await writeFile(join(folder, "careless/plugin.ts"), careless);
    place = await preparePlatformDataDir();
    server = await startProcess({ ...place.env, PLUGINS_PATH: folder, GLOBAL_LOG_LEVEL: "INFO" });
    await firstAdmin(server.url);
  }, 120_000);
  afterAll(async () => {
    await server?.kill();
    await place?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it("after a failure that nobody waited for, which it logs with its stack", async () => {
    expect((await callServer(server.url, "GET /api/v1/careless")).status).toBe(200);
    while (!server.output().includes("nobody waited for this")) {
      await pause(10);
    }
    expect(server.output()).toMatch(/ERROR[^\n]*\n[^]*nobody waited for this\n\s+at .*careless/);
    expect((await callServer(server.url, "GET /health")).status).toBe(200);
    expect(server.child.exitCode).toBeNull();
  });

  it("with a line for each request, but for those that ask whether it lives", async () => {
    expect((await callServer(server.url, "GET /api/version")).status).toBe(200);
    expect((await callServer(server.url, "GET /health")).status).toBe(200);
    while (!server.output().includes("path=/api/version")) {
      await pause(10);
    }
    expect(server.output()).not.toContain("path=/health");
  });

  it("while sign-ups from everywhere wait, and people sign in meanwhile", async () => {
    const flood = Array.from({ length: 700 }, async (_, at) => {
      const body = { name: "X", email: `flood${at}@example.test`, password: "Correct-horse-1" };
      const headers = { "x-forwarded-for": `203.0.${at >> 8}.${at & 255}` };
      expect((await callServer(server.url, "POST /api/v1/auths/signup", { body, headers })).status).toBe(429);
    });
    // Once one was turned away, as many as may wait do.
    await Promise.any(flood);
    void Promise.allSettled(flood);
    const signIn = async (email: string) =>
      (
        await callServer(server.url, "POST /api/v1/auths/signin", {
          body: { email, password: "Correct-horse-1" },
        })
      ).status;
    expect([await signIn("nobody@example.test"), await signIn("ana@example.test")]).toEqual([400, 200]);
    expect(server.child.exitCode).toBeNull();
  });
});
