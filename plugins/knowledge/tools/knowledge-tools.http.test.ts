import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunStage, runScripted, startRunStage } from "#plugins/runs/runs.fixture.ts";
import { grant, permit } from "#plugins/folders/folders.fixture.ts";
import { type KnowledgeClient, member } from "../knowledge.fixture.ts";

let stage: RunStage;
let owner: KnowledgeClient;
let handbook: { id: string; files: string[] };
let secret: { id: string; files: string[] };
let single: string;

const everybody = { principal_type: "user", principal_id: "*", permission: "read" };

async function makeModel(id: string, meta: object): Promise<void> {
  const body = { id, name: id, base_model_id: "alpha", meta, params: {}, access_grants: [everybody] };
  const { status, text } = await owner.user.call("POST /api/v1/models/create", body);
  expect([status, text]).toEqual([200, expect.any(String)]);
}

// The person who asks is an administrator without a way past grants: an account like any other.
beforeAll(async () => {
  const env = {
    OPENAI_API_CONFIGS: '{"0": {"access": "everyone"}}',
    BYPASS_ADMIN_ACCESS_CONTROL: "false",
  };
  stage = await startRunStage({ env });
  const { app } = stage;
  owner = await member(app);
  await permit(app, [owner.user], {
    workspace: { knowledge: true, models: true },
    sharing: { public_models: true },
  });
  await makeModel("plain", {});
});
afterAll(() => stage?.close());

const run = (model: string, calls: Parameters<typeof runScripted>[1]) => runScripted(stage, calls, { model });

it("a person without collections is offered no tools over them", async () => {
  const { offered } = await run("plain", []);
  expect(offered).toContain("get_current_timestamp");
  expect(offered.filter((name) => name.includes("knowledge"))).toEqual([]);
});

describe("without knowledge of a model", () => {
  beforeAll(async () => {
    handbook = await owner.filled("Handbook", ["sluice.md", "wheel.md"]);
    secret = await owner.filled("Secret plans", ["secret.md"]);
    const shared = await owner.call(`POST /${handbook.id}/access/update`, {
      access_grants: [grant(stage.user.id)],
    });
    expect(shared.status).toBe(200);
  });

  it("a model lists, finds, searches and reads what the person may read, and nothing else", async () => {
    const { offered, values } = await run("plain", [
      { name: "list_knowledge_bases" },
      { name: "search_knowledge_bases", args: { query: "secret" } },
      { name: "search_knowledge_files", args: { query: "SLUICE" } },
      { name: "grep_knowledge_files", args: { pattern: "^the text of w.eel", case_insensitive: true } },
      { name: "view_knowledge_file", args: { file_id: handbook.files[0] } },
      { name: "view_knowledge_file", args: { file_id: secret.files[0] } },
      { name: "grep_knowledge_files", args: { pattern: "text", knowledge_id: secret.id } },
      { name: "query_knowledge_files", args: { query: "sluice" } },
      { name: "query_knowledge_files", args: { query: "secret" } },
      { name: "query_knowledge_bases", args: { query: "handbook" } },
    ]);
    expect(offered).toEqual(
      expect.arrayContaining([
        "list_knowledge_bases",
        "search_knowledge_bases",
        "search_knowledge_files",
        "grep_knowledge_files",
        "view_knowledge_file",
      ]),
    );
    expect(offered).not.toContain("list_knowledge");
    const [bases, none, found, lines, view, foreign, foreignLines, passages, hidden, near] = values;
    expect(JSON.stringify(passages)).toContain("The text of sluice.md.");
    expect(JSON.stringify(hidden)).not.toContain("secret.md");
    expect(JSON.stringify(near)).toContain(handbook.id);
    expect(bases).toEqual([expect.objectContaining({ id: handbook.id, name: "Handbook", files: 2 })]);
    expect(none).toEqual([]);
    expect(found).toMatchObject({
      total: 1,
      items: [{ file_id: handbook.files[0], filename: "sluice.md", knowledge_id: handbook.id }],
    });
    expect(lines.matches).toEqual([
      { file_id: handbook.files[1], source: "wheel.md", line: 1, content: "The text of wheel.md." },
    ]);
    expect(view).toMatchObject({ filename: "sluice.md", content: "The text of sluice.md." });
    expect(JSON.stringify([foreign, foreignLines])).toContain("There is no such");
    expect(JSON.stringify(values)).not.toContain("secret.md");
  });
});

describe("with knowledge of its own", () => {
  beforeAll(async () => {
    single = await owner.file("letter.txt", "Dear miller, the sluice is yours.");
    await makeModel("keeper", {
      knowledge: [
        { type: "collection", id: secret.id, name: "Secret plans" },
        { type: "file", id: single, name: "letter.txt" },
      ],
    });
  });

  it("a model lends it to whoever uses it, and looks at nothing else", async () => {
    const { offered, values } = await run("keeper", [
      { name: "list_knowledge" },
      { name: "view_knowledge_file", args: { file_id: secret.files[0] } },
      { name: "view_file", args: { file_id: single } },
      { name: "view_knowledge_file", args: { file_id: handbook.files[0] } },
    ]);
    expect(offered).toEqual(expect.arrayContaining(["list_knowledge", "view_file", "view_knowledge_file"]));
    expect(offered).not.toContain("list_knowledge_bases");
    const [list, lent, file, other] = values;
    expect(list).toMatchObject({
      knowledge_bases: [{ id: secret.id, name: "Secret plans", files: 1 }],
      files: [{ file_id: single, filename: "letter.txt" }],
    });
    expect(lent).toMatchObject({ filename: "secret.md", content: "The text of secret.md." });
    expect(file).toMatchObject({ content: "Dear miller, the sluice is yours." });
    expect(JSON.stringify(other)).toContain("There is no such file");
  });
});
