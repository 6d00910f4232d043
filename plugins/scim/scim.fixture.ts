import { type Answer, type App, type AppOptions, callServer, startApp } from "#test/support/app.ts";

/** The token of the tests; longer ones are hidden in logs, shorter ones warned about. */
export const scimToken = "scim-token-for-tests-0123456789";

export const base = "/api/v1/scim/v2";

/** A provider that calls a running server with the right token. */
export interface ScimClient {
  /** `METHOD /path` below the base; objects are sent as `application/scim+json`. */
  call(route: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Creates a user with this address; resolves to the resource. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  user(userName: string, more?: object): Promise<any>;
  // oxlint-disable-next-line typescript/no-explicit-any
  group(displayName: string, members?: readonly string[], more?: object): Promise<any>;
  /** Sends operations to the path of one resource. */
  patch(path: string, ...operations: object[]): Promise<Answer>;
  /** The userNames, or displayNames, that a filter finds, in the order of the list. */
  find(kind: "Users" | "Groups", filter: string, more?: string): Promise<string[]>;
}

export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";
export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/** Starts the platform with provisioning on. */
export async function startScim(
  env: Record<string, string> = {},
  options: Pick<AppOptions, "database"> = {},
): Promise<App> {
  return await startApp({ ...options, env: { SCIM_ENABLED: "true", SCIM_TOKEN: scimToken, ...env } });
}

/** A client of a running server. */
export function scimClient(url: string, token: string | undefined = scimToken): ScimClient {
  const call: ScimClient["call"] = (route, body, headers = {}) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return callServer(url, `${method} ${base}${path}`, {
      token,
      body: withSchemas(method, path, body),
      headers: { ...(body !== undefined && { "content-type": "application/scim+json" }), ...headers },
    });
  };
  const made = async (route: string, body: object) => {
    const answer = await call(route, body);
    if (answer.status !== 201) {
      throw new Error(`${route} answered ${answer.status}: ${answer.text}`);
    }
    return answer.body;
  };
  return {
    call,
    user: (userName, more = {}) => made("POST /Users", { schemas: [userSchema], userName, ...more }),
    group: (displayName, members = [], more = {}) =>
      made("POST /Groups", {
        schemas: [groupSchema],
        displayName,
        members: members.map((value) => ({ value })),
        ...more,
      }),
    patch: (path, ...Operations) => call(`PATCH ${path}`, { schemas: [patchSchema], Operations }),
    async find(kind, filter, more = "") {
      const answer = await call(`GET /${kind}?count=100&filter=${encodeURIComponent(filter)}${more}`);
      if (answer.status !== 200) {
        throw new Error(`${filter} answered ${answer.status}: ${answer.text}`);
      }
      const name = kind === "Users" ? "userName" : "displayName";
      return answer.body.Resources.map((each: Record<string, string>) => each[name]);
    },
  };
}

/** Every provider names the schema; bodies that stand for a wrong one do so themselves. */
function withSchemas(method: string, path: string, body: unknown): unknown {
  const isResource =
    (method === "POST" || method === "PUT") && /^\/(?:Users|Groups)(?![^?]*\.search)/.test(path);
  return isResource && typeof body === "object" && body !== null
    ? { schemas: [path.startsWith("/Users") ? userSchema : groupSchema], ...body }
    : body;
}

/** The shape of every refusal (RFC 7644, 3.12). */
export function refused(answer: Answer): [number, string | undefined] {
  const { schemas, status, scimType, detail } = answer.body;
  const isError =
    schemas?.[0] === "urn:ietf:params:scim:api:messages:2.0:Error" &&
    status === String(answer.status) &&
    typeof detail === "string" &&
    detail !== "" &&
    (answer.headers.get("content-type") ?? "").startsWith("application/scim+json");
  if (!isError) {
    throw new Error(`no SCIM error: ${answer.status} ${answer.text}`);
  }
  return [answer.status, scimType];
}
