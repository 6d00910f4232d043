import type { Answer, App, TestUser } from "#test/support/app.ts";
import { upload } from "#plugins/files/client.fixture.ts";
import { permit } from "#plugins/folders/folders.fixture.ts";

/** What one account does with collections over HTTP. */
export interface KnowledgeClient {
  readonly user: TestUser;
  /** `METHOD /rest` below `/api/v1/knowledge`. */
  call(route: string, body?: unknown): Promise<Answer>;
  /** Makes a collection and answers its id; fails when that fails. */
  make(name: string, more?: Record<string, unknown>): Promise<string>;
  /** Uploads a text file and waits until it has been read; resolves to its id. */
  file(name: string, content?: string, metadata?: Record<string, unknown>): Promise<string>;
  /** A collection with files of these names; resolves to its id and theirs. */
  filled(name: string, names: readonly string[]): Promise<{ id: string; files: string[] }>;
  /** Names of the files in a collection. */
  names(id: string): Promise<string[]>;
}

export function knowledgeClient(app: App, user: TestUser): KnowledgeClient {
  const call: KnowledgeClient["call"] = (route, body) => {
    const [method, path] = route.split(" ", 2) as [string, string];
    return user.call(`${method} /api/v1/knowledge${path}`, body);
  };
  const need = (answer: Answer) => {
    if (answer.status !== 200) {
      throw new Error(`${answer.status}: ${answer.text}`);
    }
    return answer.body;
  };
  const make: KnowledgeClient["make"] = async (name, more = {}) =>
    need(await call("POST /create", { name, description: "", ...more })).id;
  const file: KnowledgeClient["file"] = async (name, content = `The text of ${name}.`, metadata) => {
    const sent = {
      token: user.token,
      query: "?process_in_background=false",
      ...(metadata && { metadata: JSON.stringify(metadata) }),
    };
    return need(await upload(app, [name, content], sent)).id;
  };
  return {
    user,
    call,
    make,
    file,
    async filled(name, names) {
      const id = await make(name);
      const files: string[] = [];
      for (const one of names) {
        const fileId = await file(one);
        need(await call(`POST /${id}/file/add`, { file_id: fileId }));
        files.push(fileId);
      }
      return { id, files };
    },
    async names(id) {
      const { files } = need(await call(`GET /${id}`)) as { files: { filename: string }[] };
      return files.map(({ filename }) => filename).toSorted();
    },
  };
}

/** An account that may make collections. */
export async function curator(app: App): Promise<KnowledgeClient> {
  const user = await app.user();
  await permit(app, [user], { workspace: { knowledge: true } });
  return knowledgeClient(app, user);
}

/** An account without permissions. */
export async function member(app: App): Promise<KnowledgeClient> {
  return knowledgeClient(app, await app.user());
}
