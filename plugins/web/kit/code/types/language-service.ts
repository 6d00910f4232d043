import ts from "typescript";
import type { CodeProblem } from "#plugins/web/kit/code/problems.ts";
import type { Suggestion } from "./protocol.ts";

/** Types of one open function, from the declarations that the platform gives to authors. */
export interface FunctionTypes {
  check(text: string): readonly CodeProblem[];
  complete(text: string, offset: number): readonly Suggestion[];
}

const options: ts.CompilerOptions = {
  allowJs: true,
  checkJs: true,
  strict: true,
  // Authors may leave types out.
  noImplicitAny: false,
  noEmit: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["lib.es2024.d.ts"],
  types: [],
};
const most = 200;

/** Opens the language service over files in memory: the declarations by name, and the code under two names. */
export function createFunctionTypes(declarations: ReadonlyMap<string, string>): FunctionTypes {
  let code = { text: "", version: 0 };
  // JavaScript reads types from comments, TypeScript does not: which of both it is shows when it is parsed.
  let name = "/function.js";
  const read = (path: string): string | undefined =>
    path === name ? code.text : declarations.get(path.slice(path.lastIndexOf("/") + 1));
  const host: ts.LanguageServiceHost = {
    getCompilationSettings: () => options,
    getScriptFileNames: () => [name, "/functions.d.ts"],
    getScriptVersion: (path) => (path === name ? String(code.version) : "0"),
    getScriptSnapshot: (path) => {
      const text = read(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => "/",
    getDefaultLibFileName: () => "/lib.es2024.d.ts",
    fileExists: (path) => read(path) !== undefined,
    readFile: read,
  };
  const service = ts.createLanguageService(host);

  function open(text: string): void {
    code = { text, version: code.version + 1 };
    name = "/function.js";
    if (service.getSyntacticDiagnostics(name).some(isTypeScriptOnly)) {
      name = "/function.ts";
      code = { text, version: code.version + 1 };
    }
  }

  return {
    check(text) {
      open(text);
      const found = [...service.getSyntacticDiagnostics(name), ...service.getSemanticDiagnostics(name)];
      return found.slice(0, most).map((each) => toProblem(each, text));
    },
    complete(text, offset) {
      open(text);
      const found = service.getCompletionsAtPosition(name, offset, {});
      return (found?.entries ?? [])
        .filter(({ kind }) => kind !== ts.ScriptElementKind.warning)
        .map(({ name: label, kind }) => ({ label, kind }));
    },
  };
}

/** Diagnostics 8000 to 8999: “… can only be used in TypeScript files”. */
const isTypeScriptOnly = ({ code }: ts.Diagnostic): boolean => code >= 8000 && code < 9000;

function toProblem({ start = 0, length = 1, messageText }: ts.Diagnostic, text: string): CodeProblem {
  const before = text.slice(0, start);
  return {
    line: before.split("\n").length,
    column: start - before.lastIndexOf("\n"),
    length,
    // The code may run all the same: the sandbox has the last word.
    severity: "warning",
    message: ts.flattenDiagnosticMessageText(messageText, "\n"),
  };
}
