import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
  readonly bytes?: Buffer;
  readonly headers?: Record<string, string>;
}

/** An answer with a status from 400 on. */
export class Refusal extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Asked {
  readonly method: string;
  readonly pathname: string;
  readonly query: URLSearchParams;
  readonly body: Buffer | undefined;
  readonly type: string;
  /** X-Session-Id; empty without one. */
  readonly session: string;
}

const types: Readonly<Record<string, string>> = {
  png: "image/png",
  html: "text/html",
  txt: "text/plain",
  md: "text/markdown",
};

/** The file routes, below `home` where a path is not absolute. `places` are the working directories of sessions. */
export function createFiles(home: string, places: Map<string, string>) {
  const at = (path: string) => resolve(home, path);
  return async ({ method, pathname, query, body, type, session }: Asked): Promise<Answer> => {
    const path = at(query.get("path") ?? ".");
    const given = () => JSON.parse(body?.toString() ?? "{}") as Record<string, string>;
    switch (`${method} ${pathname}`) {
      case "GET /files/cwd":
        return { json: { cwd: places.get(session) ?? home, home, root: { path: home, label: "Home" } } };
      case "POST /files/cwd": {
        const place = at(given()["path"] ?? "");
        if (!(await isThere(place))) {
          throw new Refusal(404, "Directory not found");
        }
        places.set(session, place);
        return { json: { cwd: place } };
      }
      case "GET /files/list":
        return { json: await list(at(query.get("directory") ?? ".")) };
      case "GET /files/read":
        return { json: { path, content: await readText(path) } };
      case "GET /files/display":
        return { json: { path, exists: await isThere(path) } };
      case "GET /files/view":
        return view(path);
      case "POST /files/write": {
        await writeFile(at(given()["path"] ?? ""), given()["content"] ?? "");
        return {
          json: { path: at(given()["path"] ?? ""), size: Buffer.byteLength(given()["content"] ?? "") },
        };
      }
      case "POST /files/mkdir":
        await mkdir(at(given()["path"] ?? ""), { recursive: true });
        return { json: { path: at(given()["path"] ?? "") } };
      case "POST /files/move":
        return move(at(given()["source"] ?? ""), at(given()["destination"] ?? ""));
      case "POST /files/upload": {
        const form = await new Response(new Uint8Array(body ?? []), {
          headers: { "content-type": type },
        }).formData();
        const file = form.get("file") as File;
        const target = join(at(query.get("directory") ?? "."), basename(file.name));
        await writeFile(target, Buffer.from(await file.arrayBuffer()));
        return { json: { path: target, size: file.size } };
      }
      case "DELETE /files/delete":
        if (!(await isThere(path))) {
          throw new Refusal(404, "Path not found");
        }
        await rm(path, { recursive: true });
        return { json: { path, type: "file" } };
      default:
        throw new Refusal(404, "Not Found");
    }
  };
}

async function list(directory: string): Promise<object> {
  const names = await readdir(directory).catch(() => {
    throw new Refusal(404, "Directory not found");
  });
  const entries = await Promise.all(
    names.toSorted().map(async (name) => {
      const { size, mtimeMs, isDirectory } = await stat(join(directory, name)).then((found) => ({
        size: found.size,
        mtimeMs: found.mtimeMs,
        isDirectory: found.isDirectory(),
      }));
      return {
        name,
        type: isDirectory ? "directory" : "file",
        size,
        modified: mtimeMs / 1000,
        writable: true,
      };
    }),
  );
  return { dir: directory, writable: true, entries };
}

async function view(path: string): Promise<Answer> {
  const bytes = await readFile(path).catch(() => {
    throw new Refusal(404, "File not found");
  });
  return {
    bytes,
    headers: { "content-type": types[path.split(".").at(-1) ?? ""] ?? "application/octet-stream" },
  };
}

async function move(source: string, destination: string): Promise<Answer> {
  if (await isThere(destination)) {
    throw new Refusal(409, "Destination already exists");
  }
  await rename(source, destination);
  return { json: { source, destination } };
}

async function readText(path: string): Promise<string> {
  return await readFile(path, "utf8").catch(() => {
    throw new Refusal(404, "File not found");
  });
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
