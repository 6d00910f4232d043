import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A program of the machine that some suites cannot run without. */
export interface Need {
  readonly name: string;
  /** The way to get it, as a person would type it. */
  readonly get: string;
  isThere(): boolean;
}

/** One command of tests: `npm test` for "platform", `npm run test:<name>` for the others. */
export interface Kind {
  readonly name: string;
  /** One line for the overview of `npm run test:all`. */
  readonly about: string;
  readonly include: readonly string[];
  /** Without isolation, suites of one worker share the process and its modules. */
  readonly isolate: boolean;
  readonly needs: readonly Need[];
  /** A suite leaves out what a missing program would run; otherwise the command ends before its first suite. */
  readonly canDoWithout: boolean;
  /** Some of its suites load pages of the built interface. */
  readonly showsPages?: boolean;
  /** Its suites share one server and one browser, and run one after the other. */
  readonly isOneByOne?: boolean;
}

const onPath = (program: string) =>
  [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"].some((folder) =>
    existsSync(join(folder, program)),
  );
const program = (name: string, install: string): Need => ({
  name,
  get: `apt-get install ${install}`,
  isThere: () => onPath(name),
});
const variable = (name: string, get: string): Need => ({
  name,
  get,
  isThere: () => Boolean(process.env[name]),
});

const chromium: Need = {
  name: "Chromium",
  get: "apt-get install chromium-headless-shell",
  isThere: () => ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].some(onPath),
};
const bubblewrap = program("bwrap", "bubblewrap");
const redis = variable("TEST_REDIS_URL", "start a Redis, then TEST_REDIS_URL=redis://127.0.0.1:6379");

const peers: readonly Need[] = [
  program("slapd", "slapd"),
  program("ffmpeg", "ffmpeg"),
  redis,
  variable(
    "TEST_PYTHON",
    "python3 -m venv .cache/python && .cache/python/bin/pip install -r test/support/python-requirements.txt, then TEST_PYTHON=$PWD/.cache/python/bin/python",
  ),
  variable(
    "TEST_AGENTS_DIR",
    "npm install --prefix .cache/agents @anthropic-ai/claude-code @openai/codex, then TEST_AGENTS_DIR=$PWD/.cache/agents",
  ),
  variable(
    "TEST_ONNX_DIR",
    "a folder with model.onnx, tokenizer.json and onnxruntime-web, as .ci/run makes it",
  ),
];

/** Suites of the kinds that have a rule of their own; every other suite belongs to `platform`. */
const special: readonly Kind[] = [
  {
    name: "browser",
    about: "pages in Chromium, by real keys and mouse",
    include: ["**/*.browser.test.ts"],
    isolate: false,
    needs: [chromium],
    canDoWithout: false,
    showsPages: true,
  },
  {
    name: "hands",
    about: "every control, form and page of one server, as people use them",
    include: ["test/hands/**/*.test.ts"],
    isolate: false,
    needs: [chromium],
    canDoWithout: false,
    showsPages: true,
    isOneByOne: true,
  },
  {
    name: "faults",
    about: "kills, outages, replicas: all that starts the platform as processes",
    include: ["test/faults/**/*.test.ts", "**/*.processes.test.ts"],
    isolate: true,
    needs: [redis, bubblewrap],
    canDoWithout: true,
  },
  {
    name: "embedded",
    about: "the embedded database, dumps, starts, upgrades, walk-throughs",
    include: ["storage/**/*.test.ts", "test/{database,host,walkthrough}/**/*.test.ts"],
    isolate: false,
    needs: [chromium],
    canDoWithout: true,
  },
  {
    name: "isolated",
    about: "hostile code, security",
    // Hostile code may leave a process in any state, and modules that a test replaces stay replaced.
    include: ["test/security/**/*.test.ts", "plugins/sandbox/**/*.test.ts", "**/*.isolated.test.ts"],
    isolate: true,
    needs: [bubblewrap],
    canDoWithout: true,
    showsPages: true,
  },
  {
    name: "peers",
    about: "real directories, Jupyter, FastAPI, Redis, ffmpeg, command-line agents",
    include: ["**/*.peers.test.ts"],
    isolate: true,
    needs: peers,
    canDoWithout: true,
  },
];

const folders = "{config,storage,kernel,plugins,test,scripts,bench}";

/** Every kind, in the order in which `npm run test:all` runs them. */
export const kinds: readonly Kind[] = [
  {
    name: "platform",
    about: "units and HTTP on one Postgres, with nothing but the installed packages",
    include: [`${folders}/**/*.test.ts`],
    isolate: false,
    needs: [],
    canDoWithout: false,
    showsPages: true,
  },
  ...special,
];

/** Patterns of the suites that a kind leaves to others. */
export function excludedFrom(kind: Kind): readonly string[] {
  const before =
    kind.name === "platform" ? special : special.filter(({ name }) => /^(browser|peers)$/.test(name));
  return before.filter((other) => other !== kind).flatMap(({ include }) => include);
}

/** The needs of a kind that this machine lacks. */
export function lacks({ needs }: Kind): readonly Need[] {
  return needs.filter((need) => !need.isThere());
}
