import type { Answer, Call } from "#test/support/app.ts";

type CallRoute = (route: string, options?: Call) => Promise<Answer>;

/** Ids of one thing of each kind, by the pattern of the page that shows it. */
export type Things = ReadonlyMap<string, string>;

/** Makes one of everything that a page shows by its id. What this account may not make is left out. */
export async function makeThings(call: CallRoute, token: string, word: string): Promise<Things> {
  const post = async (path: string, body: unknown) =>
    (await call(`POST /api/v1${path}`, { token, body })).body;
  const file = new FormData();
  file.append("file", new Blob(["Mills turn."], { type: "text/plain" }), "mills.txt");
  const asked = {
    id: "asked",
    parentId: null,
    childrenIds: [],
    role: "user",
    content: "How high is it?",
    timestamp: 1,
  };
  const history = { currentId: asked.id, messages: { [asked.id]: asked } };
  const chat = await post("/chats/new", { chat: { title: "Mills", models: ["alpha"], history } });
  const me = await call("GET /api/v1/auths", { token });
  const made: Record<string, Promise<{ id?: string }>> = {
    "/notes/:id": post("/notes/create", { title: "Weir", data: { content: { md: "We begin on Monday." } } }),
    "/channels/:id": post("/channels/create", { name: `mill-${word}`, type: "group", user_ids: [] }),
    "/c/:id": Promise.resolve(chat),
    "/s/:id": post(`/chats/${chat.id}/share`, {}).then(({ share_id: id }: { share_id: string }) => ({ id })),
    "/files/:id": post("/files/", file),
    "/workspace/knowledge/:id": post("/knowledge/create", { name: `Mills of ${word}`, description: "" }),
    "/workspace/prompt/:id": post("/prompts/create", {
      command: `sum-${word}`,
      name: "Sum up",
      content: "Sum up.",
    }),
    "/workspace/skill/:id": post("/skills/create", {
      id: `skill-${word}`,
      name: "Tides",
      description: "Reads tables.",
      content: "Read.",
    }),
    "/workspace/models/:id": post("/models/create", {
      id: `model-${word}`,
      base_model_id: "alpha",
      name: "Brief",
      meta: {},
      params: {},
      access_grants: [],
    }),
    "/workspace/function/:id": post("/functions/create", {
      id: `function_${word}`,
      name: "Loud",
      content: "export const name = 'Loud';\nexport function inlet(body) { return body; }",
      meta: {},
    }),
    "/workspace/tool/:id": post("/tools/create", {
      id: `tool_${word}`,
      name: "Weather",
      content:
        "export const tools = { weather: { description: 'Says the weather', parameters: { type: 'object', properties: {} }, run: () => 'fine' } };",
      meta: {},
    }),
    "/automations/edit/:id": post("/automations/create", {
      name: "News",
      data: { prompt: "News?", model_id: "alpha", rrule: "FREQ=DAILY;BYHOUR=7" },
    }),
    "/admin/users/:id": Promise.resolve(me.body),
    "/admin/groups/:id": post("/groups/create", { name: `Millers of ${word}`, description: "" }),
    "/admin/gateway/:id": post("/gateway/workspaces", { name: word, folder: word }),
  };
  const entries = await Promise.all(
    Object.entries(made).map(async ([pattern, answer]) => [pattern, (await answer)?.id] as const),
  );
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
