import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { accountHeaders } from "#plugins/web/kit/server.ts";

/** One line of a folder. */
export interface Entry {
  readonly name: string;
  readonly type: "file" | "directory";
  readonly size: number;
  /** Epoch seconds. */
  readonly modified: number;
}

export interface Folder {
  readonly dir: string;
  readonly entries: readonly Entry[];
}

/** A terminal in the place where it is used. */
export interface Place {
  readonly terminalId: string;
  /** The saved chat. */
  readonly chatId: string | undefined;
}

/** Asks a terminal server through the platform; throws with the server's words. */
export async function ask(place: Place, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers({ ...accountHeaders(), ...Object.fromEntries(new Headers(init.headers)) });
  if (place.chatId !== undefined) {
    headers.set("x-session-id", place.chatId);
  }
  // oxlint-disable-next-line eslint/no-restricted-globals -- the routes of a terminal are its own, and files are no JSON
  const response = await fetch(`/api/v1/terminals/${encodeURIComponent(place.terminalId)}/${path}`, {
    ...init,
    headers,
  });
  if (!response.ok) {
    const body = (await response.json().catch(() => ({}))) as { detail?: unknown };
    throw new Error(
      typeof body.detail === "string"
        ? body.detail
        : t("The terminal server answered with status {status}.", { status: response.status }),
    );
  }
  return response;
}

export const post = (place: Place, path: string, body: object): Promise<Response> =>
  ask(place, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

export const query = (values: Record<string, string>): string => `?${new URLSearchParams(values).toString()}`;

/** The path of an entry of a folder. */
export const join = (folder: string, name: string): string => `${folder.replace(/\/$/, "")}/${name}`;

export const parentOf = (path: string): string => path.replace(/\/[^/]+\/?$/, "") || "/";
