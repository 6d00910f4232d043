import { createContext, Script } from "node:vm";
import { z } from "zod";

/** A JSON Schema that somebody else wrote, ready to hold values against. */
export interface SchemaCheck {
  check(value: unknown): { readonly success: true } | { readonly success: false; readonly error: z.ZodError };
}

/** Milliseconds for one value. Honest patterns take microseconds. */
const patience = 20;
const longestPattern = 1_000;
/** Values whose result is remembered: those of settings are asked for again and again. */
const mostKnown = 100;
const longestKnown = 1_000;

/**
 * Reads a JSON Schema. Its patterns run on the event loop, and one can run for ever on a text that was made for it: a schema
 * with patterns is given little time for a value. Throws Error for what is no schema.
 */
export function createSchemaCheck(schema: Readonly<Record<string, unknown>>): SchemaCheck {
  const patterns = listPatterns(schema);
  if (patterns.some((pattern) => pattern.length > longestPattern)) {
    throw new Error(`a pattern may have at most ${longestPattern} characters`);
  }
  const type = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  if (patterns.length === 0) {
    return { check: (value) => type.safeParse(value) };
  }
  const known = new Map<string, ReturnType<SchemaCheck["check"]>>();
  return {
    check(value) {
      const text = JSON.stringify(value) ?? "";
      let result = known.get(text);
      if (result === undefined) {
        result = within(patience, () => type.safeParse(value)) ?? tooSlow;
        if (known.size >= mostKnown) {
          known.clear();
        }
        if (text.length <= longestKnown) {
          known.set(text, result);
        }
      }
      return result;
    },
  };
}

const tooSlow = {
  success: false,
  error: new z.ZodError([
    { code: "custom", path: [], message: "Its pattern takes too long on this value", input: undefined },
  ]),
} as const;

function listPatterns(schema: unknown): string[] {
  const found: string[] = [];
  const left = [schema];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== "object" || value === null) {
      continue;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (name === "pattern" && typeof inner === "string") {
        found.push(inner);
      } else if (name === "patternProperties" && typeof inner === "object" && inner !== null) {
        found.push(...Object.keys(inner));
      }
      left.push(inner);
    }
  }
  return found;
}

const script = new Script("run()");
const context = createContext(Object.assign(Object.create(null), { run: undefined as unknown }));

/** What `run` answers; undefined when it took too long, and then it was broken off wherever it was. */
function within<T>(ms: number, run: () => T): T | undefined {
  context["run"] = run;
  try {
    return script.runInContext(context, { timeout: ms }) as T;
  } catch (error) {
    if ((error as { code?: unknown }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") {
      return undefined;
    }
    throw error;
  } finally {
    context["run"] = undefined;
  }
}
