import { parseArgs } from "node:util";
import { boot } from "#kernel/boot.ts";
import { describeCommands, runCommand } from "#kernel/command.ts";
import { BootError } from "#kernel/order.ts";
import { catalogue } from "./catalogue.ts";

const print = (line: string) => void process.stdout.write(`${line}\n`);

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
    await runCommand(name, { catalogue, options, print });
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
    progress: (step) => print(`${step} …`),
  });
  // What one request left behind must not end everybody's; an exception that nobody caught still does.
  process.on("unhandledRejection", (reason) => {
    running.log.error({ err: reason }, "something failed that nobody waited for");
  });
  print(`\nMillrace is ready: ${running.url}\n`);
  if (running.config.env === "dev") {
    print(`Interactive documentation: ${running.url}/docs and ${running.url}/api/v1/docs`);
  }
  stopOnSignals(() => running.stop());
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
    print(`${signal}: finishing what runs …`);
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
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

/** Expected failures are told in one line; what a plugin threw, and anything else unexpected, with its stack. */
function fail(error: unknown): never {
  if (isExpected(error)) {
    const fault = error.cause === undefined || isExpected(error.cause) ? "" : `${toStack(error.cause)}\n`;
    process.stderr.write(`\nMillrace cannot start: ${error.message}\n${fault}`);
  } else {
    process.stderr.write(`${toStack(error)}\n`);
  }
  process.exit(1);
}

function isExpected(error: unknown): error is Error {
  return (
    error instanceof Error &&
    /^(BootError|ConfigError|AppError|StorageError|MigrationError)$/.test(error.name)
  );
}

function toStack(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

main(process.argv.slice(2)).catch(fail);
