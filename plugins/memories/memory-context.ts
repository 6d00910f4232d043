import { hasPermission } from "#kernel/access/permissions.ts";
import type { ContextSource } from "#plugins/completions/service.ts";
import type { MemorySettings } from "./config.ts";
import { type Memory, MemoryType } from "./schema.ts";
import { listMemories } from "./store.ts";
import type { MemoryDatabase } from "./tables.ts";

const feature = "memory";
/** More short memories than this do not fit into the budget. */
const mostRows = 200;

const titles: Readonly<Record<MemoryType, string>> = {
  user: "What is known about the person you talk to, from earlier chats:",
  context: "What they work on, from earlier chats:",
};

/**
 * Puts what is remembered about a person into the system prompt of runs whose request switches `features.memory` on
 * (contract §3.2, step 7). Memories that wait for the person's yes are left out.
 */
export function createMemoryContext(
  db: MemoryDatabase,
  settings: Pick<MemorySettings, "enabled" | "inContext" | "contextLimit" | "userLimit">,
): ContextSource {
  return {
    id: "memories",
    isNeeded({ request, model }) {
      const capabilities = model.meta["capabilities"] as Readonly<Record<string, unknown>> | undefined;
      const isOn = request.features?.[feature] === true && capabilities?.[feature] !== false;
      return isOn && settings.enabled && settings.inContext;
    },
    async gather({ principal }) {
      if (!hasPermission(principal, "features.memories")) {
        return { sources: [] };
      }
      const rows = await Promise.all(
        MemoryType.options.map((type) =>
          listMemories(db, { userId: principal.userId, type, keptOnly: true, limit: mostRows }),
        ),
      );
      const budgets = { user: settings.userLimit, context: settings.contextLimit };
      const parts = rows.flatMap((memories, at) => {
        const type = MemoryType.options[at] as MemoryType;
        return toPart(memories, titles[type], budgets[type]);
      });
      const instructions = parts.length > 0 ? `<memories>\n${parts.join("\n\n")}\n</memories>` : undefined;
      return { sources: [], features: [feature], instructions };
    },
  };
}

/** The newest that fit into the budget, in the order in which they were learned. */
function toPart(memories: readonly Memory[], title: string, budget: number): string[] {
  const lines: string[] = [];
  let left = budget;
  for (const { content, path } of memories) {
    const line = `- ${path === null ? "" : `[${path}] `}${content.replaceAll(/\s+/g, " ")}`.replaceAll(
      /<(?=\/?memories\b)/gi,
      "&lt;",
    );
    left -= line.length + 1;
    if (left < 0) {
      break;
    }
    lines.unshift(line);
  }
  return lines.length > 0 ? [`${title}\n${lines.join("\n")}`] : [];
}
