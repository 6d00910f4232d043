import { upload } from "#plugins/files/client.fixture.ts";
import { knowledgeClient } from "#plugins/knowledge/knowledge.fixture.ts";
import { permit, weather } from "#plugins/workspace-tools/tools.fixture.ts";
import { type App, signedIn, type TestUser } from "./app.ts";
import type { OwnedRows } from "./owned-row.ts";

/** Rows of people's workspaces, by plugin. */
export const workspaceRows: Record<string, OwnedRows> = {
  retrieval: {
    async make(app, token) {
      const me = await accountOf(app, token);
      await permit(app, [me], { workspace: { knowledge: true } });
      const file = await upload(app, ["secret.txt", "Secret plans"], { token });
      const body = goldenQuestion(file.body.id);
      const made = await app.call("POST /api/v1/retrieval/lab/questions", { token, body });
      return { id: made.body.id };
    },
    bodies: { "POST /retrieval/lab/questions/:id": goldenQuestion("none") },
    look: async (app, token) => (await app.call("GET /api/v1/retrieval/lab/questions", { token })).body,
  },
  knowledge: {
    async make(app, token) {
      const me = await accountOf(app, token);
      await permit(app, [me], { workspace: { knowledge: true } });
      const owner = knowledgeClient(app, me);
      const { id, files } = await owner.filled("Secret plans", ["secret.txt"]);
      const directory = (await owner.call(`POST /${id}/dirs/create`, { name: "Secret" })).body.id;
      return { id, directory, file: files[0] as string };
    },
    bodies: {
      "POST /knowledge/:id/update": { name: "changed" },
      "POST /knowledge/:id/access/update": { access_grants: [] },
      "POST /knowledge/:id/file/add": { file_id: "none" },
      "POST /knowledge/:id/files/batch/add": [{ file_id: "none" }],
      "POST /knowledge/:id/file/update": { file_id: "none" },
      "POST /knowledge/:id/file/remove": { file_id: "none" },
      "POST /knowledge/:id/file/move": { file_id: "none", directory_id: null },
      "POST /knowledge/:id/dirs/create": { name: "changed" },
      "POST /knowledge/:id/dirs/:directory/update": { name: "changed" },
      "POST /knowledge/:id/sync/diff": { manifest: [] },
      "POST /knowledge/:id/sync/cleanup": { file_ids: [], dir_ids: [] },
    },
    async look(app, token, { id }) {
      const {
        files: _files,
        updated_at: _at,
        ...record
      } = (await app.call(`GET /api/v1/knowledge/${id}`, { token })).body;
      const root = (await app.call(`GET /api/v1/knowledge/${id}/files`, { token })).body;
      // Reading and embedding go on in the background, and change how far a file has come.
      const toPlace = ({ id: file, filename, directory_id }: Record<string, unknown>) => [
        file,
        filename,
        directory_id,
      ];
      return [record, root.items.map(toPlace), root.directories];
    },
  },
  "workspace-tools": {
    async make(app, token) {
      const me = await accountOf(app, token);
      await permit(app, [me], { workspace: { tools: true } });
      const body = { id: "secret_tool", name: "Secret plans", content: weather };
      await app.call("POST /api/v1/tools/create", { token, body });
      return { id: "secret_tool", version: "1" };
    },
    bodies: {
      "POST /tools/id/:id/update": { name: "changed", content: weather },
      "POST /tools/id/:id/access/update": { access_grants: [] },
      "POST /tools/id/:id/valves/update": { key: "changed" },
      "POST /tools/id/:id/valves/user/update": { unit: "f" },
    },
    look: async (app, token, { id }) => (await app.call(`GET /api/v1/tools/id/${id}`, { token })).body,
  },
  prompts: {
    async make(app, token) {
      const me = await accountOf(app, token);
      await permit(app, [me], { workspace: { prompts: true } });
      const body = { command: "secret", name: "Secret plans", content: "Whisper." };
      const made = (await app.call("POST /api/v1/prompts/create", { token, body })).body;
      const draft = { content: "Shout.", is_production: false };
      await app.call(`POST /api/v1/prompts/id/${made.id}/update`, { token, body: draft });
      return { id: made.id, history_id: made.version_id };
    },
    bodies: {
      "POST /prompts/id/:id/update": { name: "changed" },
      "POST /prompts/id/:id/update/meta": { name: "changed", command: "changed" },
      "POST /prompts/id/:id/update/version": { version_id: "none" },
      "POST /prompts/id/:id/access/update": { access_grants: [] },
    },
    queries: { "GET /prompts/id/:id/history/diff": "from_id=none&to_id=none" },
    look: async (app, token, { id }) => (await app.call(`GET /api/v1/prompts/id/${id}`, { token })).body,
  },
  skills: {
    async make(app, token) {
      const me = await accountOf(app, token);
      await permit(app, [me], { workspace: { skills: true } });
      const files = [{ path: "secret.txt", content: "V2hpc3Blcg==" }];
      const body = { id: "secret-skill", name: "Secret plans", content: "Whisper.", files };
      await app.call("POST /api/v1/skills/create", { token, body });
      return { id: "secret-skill" };
    },
    bodies: {
      "POST /skills/id/:id/update": { name: "changed" },
      "POST /skills/id/:id/access/update": { access_grants: [] },
      "POST /skills/id/:id/files": { path: "changed.txt", content: "" },
    },
    queries: {
      "GET /skills/id/:id/files/content": "path=secret.txt",
      "DELETE /skills/id/:id/files": "path=secret.txt",
    },
    permissions: { workspace: { skills_export: true } },
    look: async (app, token, { id }) => (await app.call(`GET /api/v1/skills/id/${id}`, { token })).body,
  },
};

async function accountOf(app: App, token: string): Promise<TestUser> {
  const { id, email, name } = (await app.call("GET /api/v1/auths/", { token })).body;
  return signedIn(app.call, { id, token, email, name });
}

function goldenQuestion(file: string) {
  const expected = [{ source_id: file, name: "secret.txt", start: 0, end: 6, excerpt: "Secret" }];
  return { question: "Which plans?", files: [file], expected };
}
