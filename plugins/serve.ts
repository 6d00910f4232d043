import { parseArgs } from "node:util";
import { processEnvironment } from "#config/registry.ts";
import { boot } from "#kernel/boot.ts";
import { describeCommands, runCommand } from "#kernel/command.ts";
import { BootError } from "#kernel/order.ts";
import { createProgramOutput } from "#kernel/program-output.ts";
import { catalogue } from "./catalogue.ts";

const print = (line: string) => void process.stdout.write(`${line}\n`);
const output = createProgramOutput(processEnvironment());

/** `start` honours PORT; `serve` takes --port instead; any other word names a plugin's command. */
async function main(argv: readonly string[]): Promise<void> {
  const [first, ...rest] = argv;
  const name = first === undefined || first.startsWith("-") ? "start" : first;
  const options = toOptions(name === "start" && first !== name ? argv : rest);
  if (name === "help" || "help" in options) {
    print(describeCommands(catalogue));
    return;
  }
  if (name !== "start" && name !== "serve") {
    await runCommand(name, { catalogue, options, words: toWords(rest), print }).catch((error: unknown) =>
      fail(`${name} failed`, error),
    );
    return;
  }
  await serve(toPort(options["port"]) ?? (name === "serve" ? 8080 : undefined), options["only"]);
}

/** `only` names the surface that this process serves, such as `gateway`. */
async function serve(port: number | undefined, only: string | undefined): Promise<void> {
  const running = await boot({
    catalogue,
    warmUp: true,
    ...(port === undefined ? {} : { port }),
    ...(only === undefined ? {} : { only }),
    progress: (step) => output.say(`${step} …`),
  });
  // What one request left behind must not end everybody's; an exception that nobody caught still does.
  process.on("unhandledRejection", (reason) => {
    running.log.error({ err: reason }, "something failed that nobody waited for");
  });
  // Before it is said: a supervisor that has read the line may stop the server at once.
  stopOnSignals(() => running.stop());
  output.say(`\nMillrace is ready: ${running.url}\n`, { url: running.url });
  if (running.config.env === "dev") {
    output.say(`Interactive documentation: ${running.url}/docs and ${running.url}/api/v1/docs`);
  }
}

/** Ctrl-C reaches this process several times: from the terminal, and from each launcher that passes it on. */
const repeatedSignalMs = 1_000;

/** Stops once on SIGTERM or SIGINT; asked again later than a moment after, the process ends at once. */
function stopOnSignals(stop: () => Promise<void>): void {
  let askedAt: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (askedAt !== undefined) {
      if (Date.now() - askedAt > repeatedSignalMs) {
        process.exit(1);
      }
      return;
    }
    askedAt = Date.now();
    output.say(`${signal}: finishing what runs …`);
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail("Millrace could not stop", error),
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

function toOptions(args: readonly string[]): Record<string, string> {
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  const options: Record<string, string> = {};
  for (const [at, token] of tokens.entries()) {
    if (token.kind === "option") {
      const next = tokens[at + 1];
      // Unknown options are flags to the parser: the word behind one is its value.
      options[token.name] = token.value ?? (next?.kind === "positional" ? next.value : "");
    }
  }
  return options;
}

/** Words that are neither options nor the value of one. */
function toWords(args: readonly string[]): string[] {
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  return tokens.flatMap((token, at) => {
    const before = tokens[at - 1];
    const isValue = before?.kind === "option" && before.value === undefined;
    return token.kind === "positional" && !isValue ? [token.value] : [];
  });
}

function toPort(text: string | undefined): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new BootError(`--port takes a number from 0 to 65535, not "${text}".`);
  }
  return port;
}

/** Ends the process with one sentence, whatever the failure. */
function fail(what: string, error: unknown): never {
  output.fail(`${what}: ${toSentence(error)}`, error);
  process.exit(1);
}

/** The messages of the error and of what caused it, each once. */
function toSentence(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const own = error.message || error.name;
  const cause = error.cause instanceof Error ? error.cause.message : "";
  return cause === "" || own.includes(cause) ? own : `${own} (${cause})`;
}

process.on("uncaughtException", (error) => {
  output.crash(error);
  process.exit(1);
});
main(process.argv.slice(2)).catch((error: unknown) => fail("Millrace cannot start", error));
