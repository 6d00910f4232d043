import type { Answer, App, TestUser } from "#test/support/app.ts";

/** Gives people permissions below `workspace`, by a group of their own. */
export async function permit(
  app: App,
  people: readonly TestUser[],
  permissions: Readonly<Record<string, Record<string, boolean>>>,
): Promise<void> {
  const admin = await app.admin();
  const form = { name: `Group ${people.map(({ id }) => id).join(" ")}`, description: "", permissions };
  const { body } = await requireOk(admin.call("POST /api/v1/groups/create", form));
  await requireOk(admin.call(`POST /api/v1/groups/id/${body.id}/update`, form));
  const added = { user_ids: people.map(({ id }) => id) };
  await requireOk(admin.call(`POST /api/v1/groups/id/${body.id}/users/add`, added));
}

/** The answer when it is 200, an error with its text otherwise. */
export async function requireOk(call: Promise<Answer>): Promise<Answer> {
  const answer = await call;
  if (answer.status !== 200) {
    throw new Error(`${answer.status}: ${answer.text}`);
  }
  return answer;
}

/** Calls of one person. */
export const as = (app: App, user: TestUser) => (route: string, body?: unknown) =>
  app.call(route, { token: user.token, ...(body === undefined ? {} : { body }) });

export const grant = (user: Pick<TestUser, "id">, permission: "read" | "write") => ({
  principal_type: "user",
  principal_id: user.id,
  permission,
});

/** A tool with one function, declared. */
export const weather = `/**
 * title: Weather
 * description: Tells the weather
 */
export const valves = { key: { type: "string", default: "none", input: { type: "password" } } };
export const userValves = { unit: { type: "string", enum: ["c", "f"], default: "c" } };
export const tools = {
  weather: {
    description: "The weather of a city",
    parallel: true,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    run({ city }, ctx) {
      return { city, by: ctx.user.name, key: ctx.valves.key, unit: ctx.userValves.unit };
    },
  },
};`;
