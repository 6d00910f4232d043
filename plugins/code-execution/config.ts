import { checkAddress } from "#config/parse.ts";
import { bool, int, oneOf, seconds, text, type Values } from "#config/variable.ts";

const execution = (name: string) => ({ key: `code_execution.${name}`, persisted: true }) as const;
const interpreter = (name: string) => ({ key: `code_interpreter.${name}`, persisted: true }) as const;

const engines = ["pyodide", "jupyter"] as const;
const signIns = ["", "none", "token", "password"] as const;

/** Code that people run from messages, and what both kinds share. */
const executionVariables = {
  enabled: bool("ENABLE_CODE_EXECUTION", true, {
    ...execution("enable"),
    text: "Runs Python: code blocks of chats, and what models write for it",
  }),
  engine: oneOf("CODE_EXECUTION_ENGINE", engines, "pyodide", {
    ...execution("engine"),
    text: "Where code blocks run: in the person's browser (pyodide) or on a Jupyter server (jupyter)",
  }),
  url: text("CODE_EXECUTION_JUPYTER_URL", "", {
    ...execution("jupyter.url"),
    check: checkAddress,
    text: "Address of the Jupyter server, such as http://jupyter:8888",
  }),
  auth: oneOf("CODE_EXECUTION_JUPYTER_AUTH", signIns, "", {
    ...execution("jupyter.auth"),
    text: "How the platform signs in at the Jupyter server; empty for what is set: a token, a password, or nothing",
  }),
  token: text("CODE_EXECUTION_JUPYTER_AUTH_TOKEN", "", {
    ...execution("jupyter.auth_token"),
    secret: true,
    text: "Token of the Jupyter server",
  }),
  password: text("CODE_EXECUTION_JUPYTER_AUTH_PASSWORD", "", {
    ...execution("jupyter.auth_password"),
    secret: true,
    text: "Password of the Jupyter server",
  }),
  timeout: int("CODE_EXECUTION_JUPYTER_TIMEOUT", 60, {
    ...execution("jupyter.timeout"),
    min: 1,
    max: 3600,
    text: "Seconds that a run on the Jupyter server may take",
  }),
};

/** Code that models run; what is empty is as for code blocks. */
const interpreterVariables = {
  interpreterEnabled: bool("ENABLE_CODE_INTERPRETER", true, {
    ...interpreter("enable"),
    text: "Lets models run Python in chats where people switch it on",
  }),
  interpreterEngine: oneOf("CODE_INTERPRETER_ENGINE", ["", ...engines], "", {
    ...interpreter("engine"),
    text: "Where code of models runs; empty for the engine of code blocks",
  }),
  interpreterPrompt: text("CODE_INTERPRETER_PROMPT_TEMPLATE", "", {
    ...interpreter("prompt_template"),
    text: "Tells models that call no tools how they write code that is run, between <code_interpreter> tags; empty for the built-in text",
  }),
  interpreterUrl: text("CODE_INTERPRETER_JUPYTER_URL", "", {
    ...interpreter("jupyter.url"),
    check: checkAddress,
    text: "Jupyter server for code of models; empty for that of code blocks, with its sign-in",
  }),
  interpreterAuth: oneOf("CODE_INTERPRETER_JUPYTER_AUTH", signIns, "", {
    ...interpreter("jupyter.auth"),
    text: "How the platform signs in at the Jupyter server for models; empty for what is set",
  }),
  interpreterToken: text("CODE_INTERPRETER_JUPYTER_AUTH_TOKEN", "", {
    ...interpreter("jupyter.auth_token"),
    secret: true,
    text: "Token of the Jupyter server for models",
  }),
  interpreterPassword: text("CODE_INTERPRETER_JUPYTER_AUTH_PASSWORD", "", {
    ...interpreter("jupyter.auth_password"),
    secret: true,
    text: "Password of the Jupyter server for models",
  }),
  interpreterTimeout: int("CODE_INTERPRETER_JUPYTER_TIMEOUT", 60, {
    ...interpreter("jupyter.timeout"),
    min: 1,
    max: 3600,
    text: "Seconds that code of a model may run, in a browser or on the Jupyter server",
  }),
};

/** Limits of this platform's own making. */
const limitVariables = {
  idleSeconds: seconds("JUPYTER_KERNEL_IDLE_SECONDS", 1800, {
    ...execution("jupyter.idle"),
    min: 30,
    text: "Seconds after which the kernel of a chat that nobody uses is shut down, with its variables",
  }),
  browserTimeout: int("PYODIDE_TIMEOUT_SECONDS", 60, {
    ...execution("pyodide.timeout"),
    min: 1,
    max: 3600,
    text: "Seconds that Python in the browser may run before it is stopped",
  }),
  browserMemory: int("PYODIDE_MEMORY_MB", 1024, {
    ...execution("pyodide.memory"),
    min: 128,
    max: 4096,
    text: "Megabytes of memory that Python in the browser may use",
  }),
  packageIndex: text("PYODIDE_PACKAGE_INDEX", "", {
    ...execution("pyodide.package_index"),
    check: checkAddress,
    text: "Address of a Pyodide distribution (a folder with pyodide-lock.json and wheels) from which the server fetches packages for Python in the browser; empty for the standard library alone",
  }),
};

export const codeVariables = { ...executionVariables, ...interpreterVariables, ...limitVariables };
export type CodeSettings = Values<typeof codeVariables>;

export type Engine = (typeof engines)[number];

/** A Jupyter server with the way in. */
export interface JupyterServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
  readonly password: string;
}

/** The engine that runs code of models. */
export function toInterpreterEngine(settings: CodeSettings): Engine {
  return settings.interpreterEngine === "" ? settings.engine : settings.interpreterEngine;
}

/** The Jupyter server of code blocks, or of models; undefined where none is set. */
export function toServer(settings: CodeSettings, use: "blocks" | "models"): JupyterServer | undefined {
  const isOwn = use === "models" && settings.interpreterUrl !== "";
  const [url, auth, token, password] = isOwn
    ? [
        settings.interpreterUrl,
        settings.interpreterAuth,
        settings.interpreterToken,
        settings.interpreterPassword,
      ]
    : [settings.url, settings.auth, settings.token, settings.password];
  const takes = (kind: string) => auth === "" || auth === kind;
  return url === ""
    ? undefined
    : {
        url: url.replace(/(?<!\/)\/+$/, ""),
        token: takes("token") ? token : "",
        password: takes("password") ? password : "",
      };
}
