import { createHash } from "node:crypto";
import type { Logger } from "#kernel/log.ts";
import type { Egress } from "#kernel/egress/egress.ts";
import { AppError } from "#kernel/errors.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import type { Tool, ToolContext, ToolRun, ToolSelection, ToolSource } from "#kernel/tools/tool.ts";
import type { OpenApi, Operation } from "#plugins/tool-servers/service.ts";
import type { Documents } from "../connections/documents.ts";
import type { Terminal } from "../connections/schema.ts";
import { type Terminals, toCaller } from "../connections/terminals.ts";
import { toAddress } from "../proxy/address.ts";
import { callOperation, readCwd } from "./call.ts";
import { showUse } from "./hints.ts";

export interface SourceParts {
  readonly terminals: Terminals;
  readonly documents: Documents;
  readonly egress: Egress;
  readonly openapi: OpenApi;
  readonly hub: Hub | undefined;
  readonly log: Logger;
  /** Seconds for one call; null for the general limit, 0 or less for none. */
  callTimeout(): number | null;
}

interface Place {
  readonly terminal: Terminal;
  readonly base: string;
  readonly operation: Operation;
}

/** The tools of the terminal that a request names (contract §5.3); the model's own terminal is never taken unasked. */
export function createTerminalSource(parts: SourceParts): ToolSource {
  const { terminals, documents, egress, openapi, log } = parts;
  const known = new WeakMap<object, Promise<readonly Operation[]>>();
  const operationsOf = (document: object) => {
    const read = known.get(document) ?? openapi.read(document);
    known.set(document, read);
    return read;
  };

  async function toolsOf(
    terminal: Terminal,
    run: ToolRun,
    selection: ToolSelection,
  ): Promise<readonly Tool[]> {
    const caller = toCaller(terminal, { ...run, principal: selection.principal });
    const [{ document }, cwd] = await Promise.all([
      documents.read(terminal, caller),
      readCwd(egress, terminal, caller),
    ]);
    const base = toAddress(terminal, "").href.replace(/\/$/, "");
    const operations = await operationsOf(document);
    return operations.map((operation) => toTool({ terminal, base, operation }, cwd));
  }

  function toTool(place: Place, cwd: string | undefined): Tool {
    const { terminal, operation } = place;
    const { name, description, parameters, isReadOnly, isConsequential } = operation;
    const where = name === "run_command" && cwd !== undefined ? `\n\nThe working directory is ${cwd}.` : "";
    return {
      id: `terminal:${terminal.id}`,
      spec: { name, description: `${description}${where}`, parameters },
      isExternal: true,
      isParallel: isReadOnly,
      isActing: !isReadOnly,
      server: terminal.name,
      ...(isConsequential && { approval: "ask" as const }),
      revision: createHash("sha256").update(JSON.stringify(operation)).digest("base64url").slice(0, 16),
      run: (given, context) => call(place, given, context),
    };
  }

  async function call(
    { terminal: { id }, base, operation }: Place,
    given: Record<string, unknown>,
    context: ToolContext,
  ) {
    // The rights of now: a run may be long, and access may have been withdrawn meanwhile.
    const terminal = terminals.require(context.principal, id);
    const { signal } = context;
    const caller = toCaller(terminal, context);
    const request = { operation, base, given, caller, signal, seconds: parts.callTimeout() };
    const output = await callOperation(parts, terminal, request);
    showUse(parts.hub, { terminalId: id, operation: operation.name, given, output, context });
    return output;
  }

  return {
    id: "terminals",
    granted: () => Promise.resolve([]),
    async select(selection) {
      const { run, principal } = selection;
      const id = run?.request.terminal_id;
      if (run === undefined || !id) {
        return [];
      }
      try {
        return await toolsOf(terminals.require(principal, id), run, selection);
      } catch (error) {
        log.warn({ err: error, terminal: id }, "a terminal offers no tools");
        const why = error instanceof AppError ? error.message : "its description cannot be read.";
        selection.onProblem?.({
          toolId: `terminal:${id}`,
          text: `The tools of the terminal are missing: ${why}`,
        });
        return [];
      }
    },
  };
}
