import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createConfinement } from "#plugins/gateway/commands/confinement.ts";
import { calling, completions, saying } from "#plugins/gateway/gateway.fixture.ts";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";

const path = "/usr/local/bin:/usr/bin:/bin";
const program = "total() { echo $(($1 - $2)); }\n";
const test = `. ./total.sh
if [ "$(total 2 3)" = 5 ]; then echo PASS; else echo "FAIL: total 2 3 is $(total 2 3)"; exit 1; fi
`;

/** A number of seconds by which the command can be told from all others of this machine. */
const nap = `77${process.pid}`;
const isNapping = () => execFileSync("ps", ["-eo", "args"]).toString().includes(`sleep ${nap}`);

const isConfined = (await createConfinement(path).check()).isOn;
const [, database] = databaseKinds[0] as (typeof databaseKinds)[number];

/** Promise R2, for agents: the run goes on where it was, and nothing of the dead process works on. */
describe.each([
  ["under bubblewrap", path, isConfined],
  // A folder with git and a shell, and without bubblewrap.
  ["without bubblewrap", undefined, true],
] as const)("an agent whose server is killed, %s", (_name, commandPath, isThere) => {
  let all: ChatServers;
  let root: string;
  let repository: string;
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repository }).toString().trim();

  beforeAll(async () => {
    if (!isThere) {
      return;
    }
    root = await mkdtemp(join(tmpdir(), "gateway-"));
    repository = join(root, "workspaces/sums");
    await mkdir(repository, { recursive: true });
    git("init", "--quiet", "--initial-branch=main");
    git("config", "user.email", "ada@mill.test");
    git("config", "user.name", "Ada");
    await writeFile(join(repository, "total.sh"), program);
    await writeFile(join(repository, "test.sh"), test);
    git("add", ".");
    git("commit", "--quiet", "--message", "Sums");
    all = await startChatServers({
      database,
      env: {
        ENABLE_GATEWAY: "true",
        GATEWAY_PORT: "0",
        GATEWAY_ROOT: join(root, "workspaces"),
        GATEWAY_COMMAND_PATH: commandPath ?? (await makePrograms(join(root, "bin"))),
      },
    });
  });
  afterAll(async () => {
    await all?.close();
    await rm(root ?? "", { recursive: true, force: true });
  });

  it.skipIf(!isThere)("fixes a failing test of a repository all the same", { timeout: 180_000 }, async () => {
    const admin = all.admin();
    const made = await admin.call("POST /api/v1/gateway/workspaces", { name: "Sums", folder: "sums" });
    const { key } = (await admin.call("POST /api/v1/gateway/keys", { name: "test" })).body;
    const ask = async () => {
      const { url } = (await admin.call("GET /api/v1/gateway/state")).body;
      const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
      return client.chat.completions
        .create(
          {
            model: "gw/sums",
            messages: [{ role: "user", content: "Make the failing test pass, and commit it." }],
            stream: true,
          },
          {
            headers: {
              "x-service-chat-id": "sums",
              "x-service-user-message-id": "question",
              "x-service-message-id": "reply",
            },
          },
        )
        .withResponse();
    };
    for (const step of [
      calling("run_command", { command: "sh test.sh" }),
      calling("edit_file", { path: "total.sh", old_text: "$1 - $2", new_text: "$1 + $2" }),
      calling("run_command", { command: `touch begun; sleep ${nap}`, timeout: 600 }),
    ]) {
      all.upstream.reply(completions, step);
    }
    const first = await ask();
    const chatId = first.response.headers.get("x-chat-id") as string;
    const broken = (async () => {
      for await (const _chunk of first.data) {
        // It breaks off with its server.
      }
    })().catch((error: unknown) => error);
    await expect.poll(() => existsSync(join(repository, "begun")), { timeout: 60_000 }).toBe(true);
    // A kill may cost what was written within the last second, so the edit has to be stored before it.
    await expect.poll(async () => JSON.stringify(await admin.read(chatId))).toContain("$1 + $2");
    await all.servers[0]!.kill();
    expect(await broken).toBeInstanceOf(Error);
    await all.start(0);
    await expect.poll(isNapping).toBe(false);
    const reply = async () => {
      const { history } = (await admin.read(chatId)).chat;
      return history.messages[history.currentId];
    };
    await expect.poll(async () => (await reply()).error).toEqual({ content: "interrupted" });

    const from = all.upstream.requests.length;
    for (const step of [
      calling("run_command", { command: "sh test.sh && rm begun" }),
      calling("run_command", { command: "git commit --all --quiet --message 'Add' && git log --format=%s" }),
      saying("The test passes, and the change is committed."),
    ]) {
      all.upstream.reply(completions, step);
    }
    const second = await ask();
    expect(second.response.headers.get("x-chat-id")).toBe(chatId);
    let text = "";
    for await (const { choices } of second.data) {
      text += choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("The test passes, and the change is committed.");

    const asked = all.upstream.requests.slice(from).filter(completions);
    const earlier = JSON.stringify(asked[0]!.body.messages);
    expect(earlier).toContain("FAIL: total 2 3 is -1");
    expect(earlier).toContain("$1 + $2");
    expect(asked[1]!.body.messages.at(-1).content).toMatch(/Exit code: 0\nPASS/);
    expect(asked[2]!.body.messages.at(-1).content).toMatch(/Exit code: 0\nAdd\nSums/);
    expect(git("status", "--porcelain")).toBe("");
    expect(await readFile(join(repository, "total.sh"), "utf8")).toContain("$1 + $2");

    const ended = await reply();
    expect([ended.done, ended.error ?? null]).toEqual([true, null]);
    expect(Object.keys((await admin.read(chatId)).chat.history.messages)).toHaveLength(2);
    const base = `/api/v1/gateway/workspaces/${made.body.id}/runs`;
    const runs = (await admin.call(`GET ${base}`)).body;
    expect(runs).toMatchObject([{ status: "done", changed_files: 1, error: null }]);
    // The files as they were before the run that was killed, not before it went on.
    expect((await admin.call(`POST ${base}/${runs[0].id}/undo`)).status).toBe(200);
    expect(await readFile(join(repository, "total.sh"), "utf8")).toBe(program);
  });
});

/** A PATH of the programs that the agent calls. */
async function makePrograms(folder: string): Promise<string> {
  await mkdir(folder);
  for (const name of ["git", "sh", "sleep", "touch", "rm"]) {
    const place = execFileSync("/bin/sh", ["-c", `command -v ${name}`])
      .toString()
      .trim();
    await writeFile(join(folder, name), `#!/bin/sh\nexec ${place} "$@"\n`, { mode: 0o755 });
  }
  return folder;
}
