import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import { permit, weather } from "#plugins/workspace-tools/tools.fixture.ts";
import type { App, TestUser } from "./app.ts";

/** Rows that belong to one account, for the test that reaches for them as another. */
export interface OwnedRows {
  /** Makes one row as its owner; resolves to the path parameters that name it. */
  make(app: App, token: string): Promise<Record<string, string>>;
  /** A valid body for each route that reads one, by `METHOD /path` as declared. */
  readonly bodies: Record<string, unknown>;
  /** Everything about the row that its owner can see. */
  look(app: App, token: string, params: Record<string, string>): Promise<unknown>;
}

/** By plugin. */
export const ownedRows: Record<string, OwnedRows> = {
  previews: {
    async make(app, token) {
      const body = { kind: "html", content: "<p>Secret plans</p>" };
      const made = await app.call("POST /api/v1/previews", { token, body });
      return { id: made.body.id };
    },
    bodies: {},
    async look(app, token, { id }) {
      const shown = await app.call(`GET /preview/${id}`, { token });
      return [shown.status, shown.text];
    },
  },
  chats: {
    async make(app, token) {
      const me = chatClient(app, token);
      const made = await me.make(conversation());
      const shared = await me.call(`POST /${made.id}/share`);
      return { id: made.id, message_id: "a1", share: shared.body.share_id };
    },
    bodies: {
      "POST /chats/:id": { chat: { title: "changed" } },
      "POST /chats/:id/clone": { title: "mine" },
      "POST /chats/:id/fork": { message_id: "a1" },
      "POST /chats/:id/pin": { pinned: true },
      "POST /chats/:id/archive": { archived: true },
      "POST /chats/:id/folder": { folder_id: null },
      "POST /chats/:id/messages/:message_id": { content: "changed" },
      "POST /chats/:id/messages/:message_id/event": { type: "replace", data: { content: "changed" } },
      "POST /chats/:id/tags": { name: "mine" },
      "DELETE /chats/:id/tags": { name: "mine" },
      "POST /chats/shared/:id/access/update": { access_grants: [] },
    },
    async look(app, token, { id = "" }) {
      const me = chatClient(app, token);
      return [
        await me.read(id),
        (await me.call(`GET /shared/${id}/access`)).body,
        (await me.call("GET /")).body,
      ];
    },
  },
  folders: {
    async make(app, token) {
      const body = { name: "Secret plans", data: { system_prompt: "Whisper." } };
      const made = await app.call("POST /api/v1/folders/", { token, body });
      const chat = await chatClient(app, token).make(conversation(), { folder_id: made.body.id });
      return { id: made.body.id, chat: chat.id };
    },
    bodies: {
      "POST /folders/:id/update": { name: "changed" },
      "POST /folders/:id/update/parent": { parent_id: null },
      "POST /folders/:id/update/expanded": { is_expanded: true },
      "POST /folders/:id/access/update": { access_grants: [] },
    },
    async look(app, token, { id }) {
      const listed = await app.call("GET /api/v1/folders/", { token });
      const record = await app.call(`GET /api/v1/folders/${id}`, { token });
      const held = await app.call(`GET /api/v1/folders/${id}/shared/chats`, { token });
      return [listed.body, record.body, held.body];
    },
  },
  compaction: {
    make: async (app, token) => ({ id: (await chatClient(app, token).make(conversation())).id }),
    bodies: { "POST /chats/:id/compact": { model: "guide" } },
    look: (app, token, { id = "" }) => chatClient(app, token).read(id),
  },
  approvals: {
    async make(app, token) {
      const { id } = await chatClient(app, token).make(conversation());
      return { id, message_id: "a1", call_id: "call_1", approval_id: "none" };
    },
    bodies: { "POST /chats/:id/messages/:message_id/approvals/:call_id": { decision: "allow" } },
    look: (app, token, { id = "" }) => chatClient(app, token).read(id),
  },
  "ask-user": {
    async make(app, token) {
      const { id } = await chatClient(app, token).make(conversation());
      return { id, message_id: "a1", call_id: "call_1" };
    },
    bodies: { "POST /chats/:id/messages/:message_id/questions/:call_id": { skipped: true } },
    look: (app, token, { id = "" }) => chatClient(app, token).read(id),
  },
  feedback: {
    async make(app, token) {
      const chat = await chatClient(app, token).make(conversation());
      const data = { rating: 1, model_id: "guide" };
      const body = { type: "rating", data, meta: { chat_id: chat.id, message_id: "a1" } };
      const made = await app.call("POST /api/v1/evaluations/feedback", { token, body });
      return { id: made.body.id };
    },
    bodies: { "POST /evaluations/feedback/:id": { data: { rating: -1, model_id: "guide" } } },
    async look(app, token, { id }) {
      return (await app.call(`GET /api/v1/evaluations/feedback/${id}`, { token })).body;
    },
  },
  files: {
    async make(app, token) {
      const made = await upload(app, ["secret.txt", "nobody else's"], { token, query: "?process=false" });
      if (made.status !== 200) {
        throw new Error(`the file could not be uploaded: ${made.text}`);
      }
      return { id: made.body.id, name: "secret.txt" };
    },
    bodies: {
      "POST /files/:id/data/content/update": { content: "changed" },
      "POST /files/:id/rename": { filename: "changed.txt" },
    },
    async look(app, token, { id }) {
      const record = await app.call(`GET /api/v1/files/${id}`, { token });
      const content = await app.call(`GET /api/v1/files/${id}/content`, { token });
      return [record.status, record.body, content.status, content.text];
    },
  },
  "workspace-tools": {
    async make(app, token) {
      const me = (await app.call("GET /api/v1/auths/", { token })).body as TestUser;
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
  runs: {
    make: async (app, token) => ({ chat_id: (await chatClient(app, token).make(conversation())).id }),
    bodies: {},
    look: async (app, token, { chat_id: id }) =>
      (await app.call(`GET /api/tasks/chat/${id}`, { token })).body,
  },
};

/** Plugins whose parameters name nothing that one account owns, and why. */
export const ownerless: Record<string, string> = {
  accounts:
    "members see each other's public facts by id; the routes that change an account are for administrators",
  mcp: "the id is a server's, granted by administrators; each account reaches its own session at it",
  functions: "functions are the installation's; by their id each account reaches its own user valves only",
  tools: "the id is a workspace tool's or a server's, and whoever lists it checks it",
  "provider-common": "the rest of the path is the upstream's",
  "provider-runtime":
    "the index is a backend's; models are named in bodies and checked by the models service",
  terminals:
    "terminals are the installation's, and answer 503 to those who may not use them; sessions have tests",
};
