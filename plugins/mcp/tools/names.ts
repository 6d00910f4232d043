import { createHash } from "node:crypto";
import { maxToolName } from "#kernel/tools/names.ts";
import type { Tool as ServerTool } from "@modelcontextprotocol/sdk/types.js";

/** The name that models call: spaced by its server, so that no server shadows another's tool or a built-in one. */
export function toToolName(serverId: string, name: string): string {
  const full = `${serverId}_${name}`;
  const plain = full.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (plain === full && full.length <= maxToolName) {
    return full;
  }
  return `${plain.slice(0, maxToolName - 9)}_${hash(full).slice(0, 8)}`;
}

/** What a person approves: another description or schema under the same name asks again. */
export function toRevision({ description, inputSchema }: ServerTool): string {
  return hash(JSON.stringify([description ?? "", inputSchema]));
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
