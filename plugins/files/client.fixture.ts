import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Answer, App } from "#test/support/app.ts";

export interface Sent {
  token: string;
  query?: string;
  type?: string;
  metadata?: string;
  headers?: Record<string, string>;
}

/** Uploads a file as a browser does. */
export function upload(app: App, [name, content]: [string, string], sent: Sent): Promise<Answer> {
  const body = new FormData();
  body.append("file", new File([content], name, { type: sent.type ?? "text/plain" }));
  if (sent.metadata !== undefined) {
    body.append("metadata", sent.metadata);
  }
  const { token, query = "", headers = {} } = sent;
  return app.call(`POST /api/v1/files/${query}`, { token, body, headers });
}

/** The names of all stored bytes, half-written ones included. */
export async function listStored(dataDir: string): Promise<string[]> {
  const entries = await readdir(join(dataDir, "uploads"), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}
