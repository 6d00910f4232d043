import type { Environment } from "#config/variable.ts";
import { openFoundation, readPlan } from "./boot.ts";
import type { Elsewhere, InstallationCommand } from "./installation.ts";
import { openInstallation } from "./open-installation.ts";
import { BootError } from "./order.ts";
import type { AnyPlugin, Command } from "./plugin.ts";

export interface CommandCall {
  readonly catalogue: readonly AnyPlugin[];
  /** Where variables come from; the process's environment when left out. */
  readonly environment?: Environment;
  readonly options: Readonly<Record<string, string>>;
  /** Words without a name. */
  readonly words: readonly string[];
  print(line: string): void;
}

/** Runs a plugin's command over the opened database, without serving. Throws BootError for an unknown name. */
export async function runCommand(name: string, call: CommandCall): Promise<void> {
  const { catalogue, environment, options, words, print } = call;
  const plan = await readPlan({ catalogue, ...(environment && { environment }) });
  const found = commandsOf(plan.plugins).find(({ command }) => command.name === name);
  if (found === undefined) {
    throw new BootError(
      commandsOf(catalogue).some(({ command }) => command.name === name)
        ? `The plugin of the command "${name}" is left out (PLUGINS_DISABLED).`
        : `There is no command "${name}".\n\n${describeCommands(plan.plugins)}`,
    );
  }
  if ("runOn" in found.command) {
    const { config } = plan;
    const open = (elsewhere?: Elsewhere) => openInstallation(plan, elsewhere);
    await found.command.runOn({ config, open, options, words, print });
    return;
  }
  const { configs, database } = await openFoundation({ catalogue }, plan);
  try {
    const config = configs.get(found.plugin) ?? {};
    await found.command.run({
      config,
      db: database.db as never,
      options,
      notify: (channel, payload) => database.notify(channel, payload),
      print,
    });
  } finally {
    await database.close();
  }
}

/** The help text. */
export function describeCommands(catalogue: readonly AnyPlugin[]): string {
  const own = [
    "npm start                     start; PORT and HOST say where",
    "npm run serve -- --port N     start on port N (default 8080); PORT is ignored",
  ];
  const contributed = commandsOf(catalogue).map(({ command }) => {
    const options = Object.entries(command.options).map(([name, text]) => `    --${name}  ${text}`);
    return [`npm start -- ${command.name}     ${command.summary}`, ...options].join("\n");
  });
  return ["Commands:", ...own, ...contributed].join("\n");
}

function commandsOf(
  plugins: readonly AnyPlugin[],
): { plugin: AnyPlugin; command: Command | InstallationCommand }[] {
  return plugins.flatMap((plugin) =>
    [...((plugin.commands ?? []) as Command[]), ...(plugin.installationCommands ?? [])].map((command) => ({
      plugin,
      command,
    })),
  );
}
