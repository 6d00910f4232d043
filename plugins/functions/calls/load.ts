import { AppError } from "#kernel/errors.ts";
import { type ModuleShape, type Sandbox, SandboxError, type Script } from "#kernel/sandbox.ts";
import { type FunctionFacts, toFacts } from "./facts.ts";

/** The name of a function inside the sandbox; tools may have the same ids. */
export function toScriptId(functionId: string): string {
  return `function:${functionId}`;
}

/** The function that a script's name belongs to; undefined for scripts of other plugins. */
export function toFunctionId(scriptId: string): string | undefined {
  return scriptId.startsWith("function:") ? scriptId.slice("function:".length) : undefined;
}

/** The script of a stored function: code of one author shares an isolate. */
export function toScript(row: { id: string; user_id: string; content: string }): Script {
  return { owner: row.user_id, id: toScriptId(row.id), source: row.content };
}

/** Loads code and reads what it exports. Throws AppError `invalid` that names line and column. */
export async function loadFacts(sandbox: Sandbox, script: Script): Promise<FunctionFacts> {
  return toFacts(await loadShape(sandbox, script));
}

/** Loads code of any kind. Throws AppError `invalid` that names line and column. */
export async function loadShape(sandbox: Sandbox, script: Script): Promise<ModuleShape> {
  try {
    return await sandbox.load(script);
  } catch (error) {
    throw error instanceof SandboxError
      ? new AppError("invalid", toSandboxMessage(error), { cause: error })
      : error;
  }
}

/** Whether code that did not load will not the next time: time, memory and the compiler others may have taken. */
export function isOwnFault({ cause }: AppError): boolean {
  return !(cause instanceof SandboxError) || (cause.kind !== "timeout" && cause.kind !== "memory");
}

/** The text of a sandbox failure: its message, and where in the source it happened. */
export function toSandboxMessage(error: SandboxError): string {
  if (error.line === undefined) {
    return error.message;
  }
  const place = `line ${error.line}${error.column === undefined ? "" : `, column ${error.column}`}`;
  return `${error.message} (${place})`;
}
