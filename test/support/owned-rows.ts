import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import { requireOk } from "#plugins/workspace-tools/tools.fixture.ts";
import type { OwnedRows } from "./owned-row.ts";
import { workspaceRows } from "./owned-workspace-rows.ts";

/** By plugin. */
export const ownedRows: Record<string, OwnedRows> = {
  ...workspaceRows,
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
  notes: {
    async make(app, token) {
      const body = { title: "Secret plans", data: { content: { md: "Whisper." } } };
      const { id } = (await app.call("POST /api/v1/notes/create", { token, body })).body;
      const [version] = (await app.call(`GET /api/v1/notes/${id}/history`, { token })).body;
      return { id, version_id: version.id };
    },
    bodies: {
      "POST /notes/:id/update": { title: "changed" },
      "POST /notes/:id/access/update": { access_grants: [] },
      // An update of a document that holds nothing.
      "POST /notes/:id/edits": { update: "AAA=" },
    },
    queries: { "GET /notes/:id/history/diff": "from_id=unknown" },
    async look(app, token, { id }) {
      const at = (rest: string) => app.call(`GET /api/v1/notes${rest}`, { token });
      return [(await at(`/${id}`)).body, (await at(`/${id}/history`)).body, (await at("/pinned")).body];
    },
  },
  notifications: {
    // The routes of targets answer 404 to everybody while ENABLE_USER_WEBHOOKS is off.
    async make(app, token) {
      const keys = { p256dh: `B${"A".repeat(86)}`, auth: "A".repeat(22) };
      const body = { endpoint: `https://push.example.org/${token.slice(-40)}`, keys };
      const made = await app.call("POST /api/v1/notifications/push", { token, body });
      return { id: made.body.id };
    },
    bodies: { "PUT /notifications/targets/:id": { enabled: false } },
    look: async (app, token) => (await app.call("GET /api/v1/notifications/push", { token })).body,
  },
  channels: {
    async make(app, token) {
      const body = { name: "secret plans", type: "group" };
      const { id } = (await app.call("POST /api/v1/channels/create", { token, body })).body;
      const post = { token, body: { content: "Whisper." } };
      const message = await app.call(`POST /api/v1/channels/${id}/messages/post`, post);
      const hook = { token, body: { name: "Hook" } };
      const webhook = await app.call(`POST /api/v1/channels/${id}/webhooks/create`, hook);
      return { id, message_id: message.body.id, webhook_id: webhook.body.id };
    },
    bodies: {
      "POST /channels/:id/update": { name: "changed" },
      "POST /channels/:id/members/active": { is_active: false },
      "POST /channels/:id/update/members/add": { user_ids: [] },
      "POST /channels/:id/update/members/remove": { user_ids: ["somebody"] },
      "POST /channels/:id/messages/post": { content: "changed" },
      "POST /channels/:id/messages/:message_id/update": { content: "changed" },
      "POST /channels/:id/messages/:message_id/pin": { is_pinned: true },
      "POST /channels/:id/messages/:message_id/reactions/add": { name: "x" },
      "POST /channels/:id/messages/:message_id/reactions/remove": { name: "x" },
      "POST /channels/:id/webhooks/create": { name: "mine" },
      "POST /channels/:id/webhooks/:webhook_id/update": { name: "changed" },
    },
    queries: { "GET /channels/:id/messages/search": "query=Whisper" },
    async look(app, token, { id }) {
      const at = (rest: string) => app.call(`GET /api/v1/channels/${id}${rest}`, { token });
      return [(await at("")).body, (await at("/messages")).body, (await at("/webhooks")).body];
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
  calendar: {
    async make(app, token) {
      const made = await app.call("POST /api/v1/calendars/create", { token, body: { name: "Secret plans" } });
      const event = { calendar_id: made.body.id, title: "Whisper", start_at: 1.8e18 };
      await app.call("POST /api/v1/calendars/events/create", { token, body: event });
      return { id: made.body.id };
    },
    bodies: {
      "POST /calendars/:id/update": { name: "changed" },
      "POST /calendars/:id/import": { ics: "BEGIN:VCALENDAR\r\nEND:VCALENDAR" },
      "POST /calendars/events/:id/update": { title: "changed" },
      "POST /calendars/events/:id/rsvp": { status: "accepted" },
    },
    async look(app, token) {
      const calendars = await app.call("GET /api/v1/calendars/", { token });
      return [calendars.body, (await app.call("GET /api/v1/calendars/events/search", { token })).body];
    },
  },
  memories: {
    async make(app, token) {
      const body = { content: "Secret plans" };
      const made = await app.call("POST /api/v1/memories/add", { token, body });
      const changes = await app.call("GET /api/v1/memories/changes", { token });
      return { id: made.body.id, change_id: changes.body[0].id };
    },
    bodies: { "POST /memories/:id/update": { content: "changed" } },
    async look(app, token) {
      const kept = await app.call("GET /api/v1/memories/", { token });
      return [kept.body, (await app.call("GET /api/v1/memories/changes", { token })).body];
    },
  },
  automations: {
    permissions: { features: { automations: true } },
    async make(app, token) {
      const data = { prompt: "Whisper.", model_id: "guide", rrule: "FREQ=YEARLY" };
      const body = { name: "Secret plans", data };
      const made = await requireOk(app.call("POST /api/v1/automations/create", { token, body }));
      return { id: made.body.id };
    },
    bodies: { "POST /automations/:id/update": { name: "changed" } },
    look: async (app, token, { id }) => (await app.call(`GET /api/v1/automations/${id}`, { token })).body,
  },
  subagents: {
    make: async (app, token) => ({ id: (await chatClient(app, token).make(conversation())).id }),
    bodies: {},
    look: async (app, token, { id }) => (await app.call(`GET /api/v1/chats/${id}/subagents`, { token })).body,
  },
  timers: {
    // A timer is set by a model alone; its own tests show that its id is nobody else's.
    make: async (app, token) => ({ id: (await chatClient(app, token).make(conversation())).id }),
    bodies: {},
    look: async (app, token, { id }) => (await app.call(`GET /api/v1/chats/${id}/timers`, { token })).body,
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
  apps: "the id is a channel's, and channels say who reads and manages it; apps are the installation's",
  accounts:
    "members see each other's public facts by id; the routes that change an account are for administrators",
  mfa: "passkeys are found by id and account in one query, once the second factor is on; foreign ones have a test",
  mcp: "the id is a server's, granted by administrators; each account reaches its own session at it",
  functions: "functions are the installation's; by their id each account reaches its own user valves only",
  tools: "the id is a workspace tool's or a server's, and whoever lists it checks it",
  "provider-common": "the rest of the path is the upstream's",
  "provider-runtime":
    "the index is a backend's; models are named in bodies and checked by the models service",
  terminals:
    "terminals are the installation's, and answer 503 to those who may not use them; sessions have tests",
};
