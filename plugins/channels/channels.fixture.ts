import type { Answer, App, TestUser } from "#test/support/app.ts";

/** A client of one account's channels over HTTP. */
export interface ChannelClient {
  readonly user: TestUser;
  /** `METHOD /rest` below `/api/v1/channels`. */
  call(route: string, body?: unknown): Promise<Answer>;
  /** Makes a channel and answers its id; fails when that fails. */
  make(form: object): Promise<string>;
  /** Posts a message and answers it; fails when that fails. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  post(id: string, content: string, more?: object): Promise<any>;
}

export function channelClient(app: App, user: TestUser): ChannelClient {
  const call: ChannelClient["call"] = (route, body) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return user.call(`${method} /api/v1/channels${path}`, body);
  };
  const must = async (route: string, body: object) => {
    const { status, body: answer, text } = await call(route, body);
    if (status !== 200) {
      throw new Error(`${route}: ${status}: ${text}`);
    }
    return answer;
  };
  return {
    user,
    call,
    make: async (form) => (await must("POST /create", form)).id,
    post: (id, content, more = {}) => must(`POST /${id}/messages/post`, { content, ...more }),
  };
}
