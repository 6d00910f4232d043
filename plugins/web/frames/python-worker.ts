import { limitMemory } from "./python/limit-memory.ts";
import { createPrinter } from "./python/printer.ts";
import prelude from "./python/prelude.py?raw";
import type { FromPython, GivenBytes, ToPython } from "../kit/frames/python-messages.ts";

// Runs Python with Pyodide, one piece of code after another; whoever wants to stop one ends the worker.

/** What of Pyodide is used. */
interface Pyodide {
  readonly FS: { mkdirTree(path: string): void; writeFile(path: string, bytes: Uint8Array): void };
  readonly globals: { get(name: string): (...args: unknown[]) => Promise<string> };
  runPython(code: string): unknown;
  registerJsModule(name: string, module: object): void;
  loadPackagesFromImports(code: string, options: object): Promise<unknown>;
  setStdin(options: object): void;
}

const folder = "/work";
const scope = globalThis as unknown as {
  postMessage(message: FromPython, transfer?: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToPython>) => void): void;
};
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
const tell = (message: FromPython) => scope.postMessage(message);
const printer = createPrinter(tell);
let python: Promise<Pyodide> | undefined;
let queue = Promise.resolve();

scope.addEventListener("message", ({ data }) => {
  if (data.type === "load") {
    python ??= load(data.base, data.memory);
    python.catch((error: unknown) => tell({ type: "broken", message: String(error) }));
  } else if (data.type === "run") {
    queue = queue.then(() => run(data.id, data.code, data.files));
  }
});
tell({ type: "worker" });

async function load(base: string, memory: number): Promise<Pyodide> {
  limitMemory(memory);
  const { loadPyodide } = (await import(/* @vite-ignore */ `${base}pyodide.mjs`)) as {
    loadPyodide(options: object): Promise<Pyodide>;
  };
  const loaded = await loadPyodide({
    indexURL: base,
    stdout: (text: string) => printer.print("stdout", `${text}\n`),
    stderr: (text: string) => printer.print("stderr", `${text}\n`),
    env: { HOME: folder, MPLBACKEND: "AGG" },
    fsInit: async (fs: Pyodide["FS"]) => fs.mkdirTree(folder),
  });
  // Nobody types: `input()` fails at once.
  loaded.setStdin({ error: true });
  loaded.registerJsModule("_chat", {
    write: (name: "stdout" | "stderr", text: string) => printer.print(name, text),
    show: (type: string, data: unknown) => printer.show(type, data),
  });
  loaded.runPython(prelude);
  tell({ type: "ready" });
  return loaded;
}

async function run(id: number, code: string, files: readonly GivenBytes[]): Promise<void> {
  const loaded = await python;
  if (loaded === undefined) {
    return;
  }
  for (const { name, bytes } of files) {
    loaded.FS.writeFile(`${folder}/${name}`, bytes);
  }
  printer.begin();
  const problems: string[] = [];
  await loaded
    .loadPackagesFromImports(code, {
      messageCallback: (text: string) => tell({ type: "packages", text }),
      errorCallback: (text: string) => problems.push(text),
      checkIntegrity: true,
    })
    .catch((error: unknown) => problems.push(String(error)));
  tell({ type: "started", id });
  const answer = JSON.parse(await loaded.globals.get("_run")(code)) as {
    status: "success" | "error";
    result: string;
    missing: string | null;
  };
  printer.flush();
  tell({ type: "done", id, ...answer, problems, ...printer.shown() });
}
