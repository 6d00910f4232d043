import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where the workspace stands inside. */
export const insidePath = "/workspace";

export type ConfinementState =
  | {
      readonly isOn: true;
      readonly program: string;
      /** It gives a folder in memory a size; versions before 0.7 do not. */
      readonly hasSizes: boolean;
    }
  | { readonly isOn: false; readonly problem: string };

/** True when bubblewrap confines commands on this machine. */
export interface Confinement {
  check(): Promise<ConfinementState>;
}

const keptMs = 60_000;
const patienceMs = 5_000;

/** `path` is the PATH to look in; an installation is noticed within a minute. */
export function createConfinement(path: string): Confinement {
  let known: { readonly at: number; readonly state: Promise<ConfinementState> } | undefined;
  return {
    async check() {
      if (known === undefined || Date.now() - known.at > keptMs) {
        known = { at: Date.now(), state: probe(path) };
      }
      return await known.state;
    },
  };
}

async function probe(path: string): Promise<ConfinementState> {
  const program = await find("bwrap", path);
  if (program === undefined) {
    return { isOn: false, problem: "bubblewrap (bwrap) is not installed." };
  }
  try {
    await run(program, [...toArguments("/tmp", { path, hasNetwork: false }), "true"], {
      timeout: patienceMs,
    });
    const { stdout: help } = await run(program, ["--help"], { timeout: patienceMs });
    return { isOn: true, program, hasSizes: help.includes("--size") };
  } catch (error) {
    const { stderr = "" } = error as { stderr?: string };
    const why = stderr.trim().split("\n").at(-1) || "it does not start";
    return { isOn: false, problem: `bubblewrap is installed and does not work here: ${why}` };
  }
}

/** The first program of this name on a PATH. */
export async function find(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter).filter((entry) => entry.startsWith("/"))) {
    const program = join(folder, name);
    const isThere = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) {
      return program;
    }
  }
  return undefined;
}

/** Of the system only what programs need to run; nothing of homes, of DATA_DIR and of other workspaces. */
const readable = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt"];
const readableOfEtc = [
  "alternatives",
  "ca-certificates",
  "group",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  "nsswitch.conf",
  "passwd",
  "pki",
  "protocols",
  "resolv.conf",
  "services",
  "ssl",
];

/** Arguments of bubblewrap in front of a command: the workspace is writable, all else is read-only or not there. */
export function toArguments(
  workspace: string,
  {
    path,
    hasNetwork,
    tmpBytes,
  }: { readonly path: string; readonly hasNetwork: boolean; readonly tmpBytes?: number | undefined },
): string[] {
  const programs = path.split(delimiter).filter((entry) => entry.startsWith("/"));
  const paths = [...readable, ...readableOfEtc.map((name) => `/etc/${name}`), ...programs];
  return [
    "--unshare-all",
    ...(hasNetwork ? ["--share-net"] : []),
    "--die-with-parent",
    "--new-session",
    "--cap-drop",
    "ALL",
    "--clearenv",
    ...paths.flatMap((path) => ["--ro-bind-try", path, path]),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...(tmpBytes === undefined ? [] : ["--size", String(tmpBytes)]),
    "--tmpfs",
    "/tmp",
    "--bind",
    workspace,
    insidePath,
    "--chdir",
    insidePath,
    "--",
  ];
}
