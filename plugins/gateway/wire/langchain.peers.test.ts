import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { testPython } from "#test/support/python.ts";
import { calling, completions, type GatewayApp, saying, startGateway } from "../gateway.fixture.ts";

let gateway: GatewayApp;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway?.close());

it.skipIf(testPython === undefined)(
  "LangChain reads the agent's answers, streamed and whole, and goes on in one chat",
  async () => {
    const { id } = await gateway.workspace("chain");
    await writeFile(join(gateway.root, "chain/hello.txt"), "Hello from the workspace\n");
    for (const step of [
      calling("read_file", { path: "hello.txt" }),
      saying("It says hello."),
      calling("read_file", { path: "other.txt" }),
      saying("There is no other.txt."),
    ]) {
      gateway.upstream.reply(completions, step);
    }
    const script = fileURLToPath(new URL("langchain.fixture.py", import.meta.url));
    const args = [script, `${await gateway.url()}/v1`, await gateway.key(), "gw/chain"];
    // LangChain tells its maker nothing of the calls.
    const env = { ...process.env, LANGSMITH_TRACING: "false" };
    const { stdout } = await promisify(execFile)(testPython as string, args, { env });
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const usage = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    expect(answers).toMatchObject([
      { text: "It says hello.", usage },
      { text: "There is no other.txt.", usage, finish: "stop" },
    ]);

    const asked = gateway.upstream.requests.filter(completions);
    expect(asked[1]!.body.messages.at(-1).content).toContain("Hello from the workspace");
    expect(asked[0]!.body).not.toHaveProperty("max_tokens");
    const runs = (await gateway.admin(`GET /api/v1/gateway/workspaces/${id}/runs`)).body;
    expect(runs).toHaveLength(2);
    expect(new Set(runs.map(({ chat_id }: { chat_id: string }) => chat_id)).size).toBe(1);
  },
);
