// Turns TypeScript into JavaScript beside the process: a source that breaks the compiler, which is shared by all of a
// thread, breaks this worker and nothing else.
import { stripTypeScriptTypes } from "node:module";
import { parentPort } from "node:worker_threads";

const port = parentPort;
port.on("message", ({ id, source }) => port.postMessage({ id, ...strip(source) }));

function strip(source) {
  try {
    return { code: stripTypeScriptTypes(source, { mode: "strip" }) };
  } catch (error) {
    if (error.code !== "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
      return toFailure(error);
    }
  }
  try {
    const code = stripTypeScriptTypes(source, { mode: "transform", sourceMap: true });
    return {
      code,
      map: /\n\/\/# sourceMappingURL=data:[^,\n]*;base64,([A-Za-z0-9+/=]+)\s*$/.exec(code)?.[1],
    };
  } catch (error) {
    return toFailure(error);
  }
}

/** The stack begins with `name:line`, the lines around the place and a mark below it. */
function toFailure(error) {
  if (error.code !== "ERR_INVALID_TYPESCRIPT_SYNTAX") {
    return { isBroken: true };
  }
  const stack = String(error.stack);
  const mark = /^ *\^+ *$/m.exec(stack)?.[0];
  return {
    message: error.message,
    line: Number(/^[^\n]*:(\d+)\n/.exec(stack)?.[1]) || undefined,
    column: mark && mark.indexOf("^") + 1,
  };
}
