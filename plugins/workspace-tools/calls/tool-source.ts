import { createHash } from "node:crypto";
import { AppError } from "#kernel/errors.ts";
import { SandboxError } from "#kernel/sandbox.ts";
import type { Tool, ToolContext, ToolRun, ToolSelection, ToolSource } from "#kernel/tools/tool.ts";
import { toModel, toSandboxMessage } from "#plugins/functions/service.ts";
import { findObstacle } from "../library/approval.ts";
import { findTool, findTools, type ToolRow } from "../library/tool-store.ts";
import { completeValves, resourceType, type ToolParts, toScript } from "../parts.ts";
import type { StoredSpec } from "../tables.ts";
import { toArguments } from "./arguments.ts";
import { toOutput } from "./to-output.ts";

/** Offers the functions of workspace tools that the caller may use and the request names. */
export function createToolSource(parts: ToolParts): ToolSource {
  const { db, access, grants } = parts;

  async function findGranted({ principal, toolIds }: ToolSelection): Promise<ToolRow[]> {
    // Servers have a colon in their ids, and tools have none.
    const ids = [...new Set(toolIds)].filter((id) => /^\w{1,256}$/.test(id));
    const rows = await findTools(db, ids);
    if (rows.length === 0 || access.passes(principal)) {
      return rows;
    }
    const held = await grants.allowed(
      principal,
      "read",
      resourceType,
      rows.map(({ id }) => id),
    );
    return rows.filter((row) => row.user_id === principal.userId || held.has(row.id));
  }

  return {
    id: "workspace-tools",
    granted: async (selection) => (await findGranted(selection)).map(({ id }) => id),
    async select(selection) {
      const rows = await findGranted(selection);
      // In the order of the request: the first of two functions with one name keeps it.
      const inOrder = rows.toSorted(
        (a, b) => selection.toolIds.indexOf(a.id) - selection.toolIds.indexOf(b.id),
      );
      return inOrder.flatMap((row) => {
        const obstacle = findObstacle(row);
        if (obstacle !== undefined) {
          selection.onProblem?.({
            toolId: row.id,
            text: `The tool "${row.name}" cannot be used now. ${obstacle}`,
          });
          return [];
        }
        const revision = createHash("sha256").update(row.content).digest("base64url");
        return row.specs.map((spec) => toTool(parts, { row, spec, revision, run: selection.run }));
      });
    },
  };
}

interface Chosen {
  readonly row: ToolRow;
  readonly spec: StoredSpec;
  readonly revision: string;
  readonly run: ToolRun | undefined;
}

function toTool(parts: ToolParts, { row, spec, revision, run }: Chosen): Tool {
  const { name, description, parameters, parallel, title } = spec;
  return {
    id: row.id,
    spec: { name, description, parameters },
    isExternal: true,
    isParallel: parallel === true,
    isActing: parallel !== true,
    server: row.name,
    revision,
    ...(title !== undefined && { title }),
    async run(given, context) {
      try {
        return toOutput(
          await callTool(parts, { row: await requireSame(parts, row), spec, run }, { given, context }),
        );
      } catch (error) {
        throw error instanceof SandboxError ? toFailure(error) : error;
      }
    },
  };
}

/** A long reply must not run code, or hold rights, that are gone by now. */
async function requireSame({ db }: ToolParts, before: ToolRow): Promise<ToolRow> {
  const row = await findTool(db, before.id);
  if (row === undefined || row.content !== before.content || findObstacle(row) !== undefined) {
    throw new AppError(
      "unavailable",
      `The tool "${before.name}" was changed meanwhile. Ask again to use it.`,
    );
  }
  return row;
}

async function callTool(
  parts: ToolParts,
  { row, spec, run }: Omit<Chosen, "revision">,
  { given, context }: { given: Readonly<Record<string, unknown>>; context: ToolContext },
) {
  const facts = await parts.loadFacts(row);
  const code = { id: row.id, valves: completeValves(parts, row, facts), script: toScript(row), facts };
  const { principal, chatId, messageId, sessionId, signal } = context;
  const { files, features } = (run?.request ?? {}) as {
    files?: readonly unknown[] | null;
    features?: Readonly<Record<string, unknown>> | null;
  };
  return await parts.invoke.callLong(code, {
    name: spec.entry,
    args: toArguments(spec, given),
    facts: {
      principal,
      chatId,
      messageId,
      sessionId,
      files,
      features,
      model: run && toModel(run.model.id, run.model.meta),
    },
    signal,
  });
}

/** What the model is told: its own words, and where they come from. */
function toFailure(error: SandboxError): AppError {
  return new AppError(error.kind === "timeout" ? "timeout" : "invalid", toSandboxMessage(error), {
    cause: error,
  });
}
