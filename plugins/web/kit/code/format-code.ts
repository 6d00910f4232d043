import { server } from "../server.ts";
import { session } from "../stores/session.svelte.ts";

/** Lays code out anew on the server; undefined for people whom the server does not do it for. */
export function codeFormatter(): ((code: string) => Promise<string>) | undefined {
  return session.isAdmin
    ? async (code) => (await server.call("POST /api/v1/utils/code/format", { body: { code } })).code
    : undefined;
}
