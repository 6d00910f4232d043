/** Messages of the main thread to the database thread. A query with a transaction number runs in that transaction. */
export type Call =
  | { op: "query"; text: string; values: readonly unknown[]; transaction?: number }
  | { op: "run"; text: string; values: readonly unknown[] }
  | { op: "begin"; transaction: number; settings: string }
  | { op: "commit"; transaction: number }
  | { op: "rollback"; transaction: number }
  | { op: "listen"; channel: string }
  | { op: "unlisten"; channel: string }
  | { op: "copy"; target: string }
  | { op: "close" };

export type Request = Call & { id: number };

export interface QueryResult {
  rows: Record<string, unknown>[];
  affectedRows?: number;
}

/** An error as plain data: cloning an Error would lose the fields of the database. */
export interface PlainError {
  message: string;
  stack?: string;
  fields: Record<string, unknown>;
}

export type Reply =
  | { kind: "done"; id: number; result: unknown }
  | { kind: "failed"; id: number; error: PlainError }
  | { kind: "notification"; channel: string; payload: string }
  | { kind: "opened"; hasVector: boolean }
  | { kind: "refused"; error: PlainError };

export interface WorkerOptions {
  folder: string;
  schema?: string;
}

/** Takes an error apart, leaving out query and parameters: they hold users' data. */
export function toPlainError(error: unknown): PlainError {
  if (!(error instanceof Error)) {
    return { message: String(error), fields: {} };
  }
  const fields: Record<string, unknown> = {};
  for (const name of FIELDS) {
    const value = (error as unknown as Record<string, unknown>)[name];
    if (typeof value === "string" || typeof value === "number") {
      fields[name] = value;
    }
  }
  return { message: error.message, stack: error.stack, fields };
}

/** Puts the error together again on the other side. */
export function fromPlainError({ message, stack, fields }: PlainError): Error {
  const error = new Error(message);
  error.stack = stack;
  return Object.assign(error, fields);
}

const FIELDS = [
  "code",
  "severity",
  "detail",
  "hint",
  "position",
  "where",
  "schema",
  "table",
  "column",
  "dataType",
  "constraint",
  "routine",
];
