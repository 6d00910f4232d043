import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createTestFolder, removeTestFolder } from "../test-folder.ts";
import { findLeft, shareInWorker } from "./leaks.ts";

const names = () => [...findLeft().values()].join("\n");

test("a server is named with the place that opened it, until it is closed", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  expect(names()).toMatch(new RegExp(`server on port ${port} .*leaks\\.test\\.ts`));
  server.close();
  await once(server, "close");
  expect(names()).toBe("");
});

test.runIf(process.platform === "linux")("a process is named, also one that left its parent", async () => {
  const child = spawn("sh", ["-c", "sleep 300 & echo $!"], { detached: true });
  const [output] = (await once(child.stdout, "data")) as [Buffer];
  const pid = Number(output.toString());
  try {
    await expect.poll(names).toMatch(new RegExp(`process ${pid}: sleep 300`));
  } finally {
    process.kill(pid, "SIGKILL");
  }
  await expect.poll(names).toBe("");
});

test("a folder is named, but not one that suites share", async () => {
  const shared = await shareInWorker(() => createTestFolder({}));
  const own = await createTestFolder({});
  expect(names()).toContain(own);
  expect(names()).not.toContain(shared);
  await Promise.all([own, shared].map(removeTestFolder));
});
