import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { Automation } from "./automations.ts";

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
}

/** The choices of the editor; what a person may not use is not among them. */
export interface Choices {
  readonly models: readonly Choice[];
  readonly folders: readonly Choice[];
  readonly terminals: readonly Choice[];
}

/** The value of "none" in a picker. */
export const none = "";

/** Reads models, folders and terminals; a part that is switched off offers nothing. */
export async function readChoices(): Promise<Choices> {
  const nothing = () => [];
  const [{ data }, folders, terminals] = await Promise.all([
    server.call("GET /api/models") as Promise<unknown> as Promise<{ data: { id: string; name?: string }[] }>,
    session.mayUse("folders") ? server.call("GET /api/v1/folders/").catch(nothing) : [],
    server.call("GET /api/v1/terminals/").catch(nothing),
  ]);
  return {
    models: data.map(({ id, name }) => ({ value: id, label: name ?? id })),
    folders: folders.map(({ id, name }) => ({ value: id, label: name })),
    terminals: terminals
      .filter(({ contexts }) => contexts?.automation !== false)
      .map(({ id, name }) => ({ value: id, label: name })),
  };
}

/** The form of an automation. */
export class Draft {
  name = $state("");
  prompt = $state("");
  modelId = $state("");
  rule = $state("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0");
  folderId = $state(none);
  terminalId = $state(none);
  /** The directory on the terminal; empty for its own. */
  directory = $state("");
  /** False while the words say no rule. */
  hasRule = $state(true);

  constructor(from?: Automation) {
    if (from !== undefined) {
      const { server_id: terminal, cwd } = (from.data["terminal"] ?? {}) as {
        server_id?: string;
        cwd?: string | null;
      };
      this.name = from.name;
      this.prompt = from.data.prompt;
      this.modelId = from.data.model_id;
      this.rule = from.data.rrule;
      this.folderId = from.folder_id ?? none;
      this.terminalId = terminal ?? none;
      this.directory = cwd ?? "";
    }
  }

  readonly isComplete = $derived(
    this.name.trim() !== "" &&
      this.prompt.trim() !== "" &&
      this.modelId !== "" &&
      this.hasRule &&
      this.rule.trim() !== "",
  );

  /** The text that changes whenever something is written. */
  readonly written = $derived(
    JSON.stringify([
      this.name,
      this.prompt,
      this.modelId,
      this.rule,
      this.folderId,
      this.terminalId,
      this.directory,
    ]),
  );

  /** Shows what was written before. */
  putBack(written: string): void {
    [this.name, this.prompt, this.modelId, this.rule, this.folderId, this.terminalId, this.directory] =
      JSON.parse(written) as [string, string, string, string, string, string, string];
    this.hasRule = true;
  }

  toForm() {
    return {
      name: this.name.trim(),
      folder_id: this.folderId === none ? null : this.folderId,
      data: {
        prompt: this.prompt.trim(),
        model_id: this.modelId,
        rrule: this.rule.trim(),
        terminal:
          this.terminalId === none
            ? null
            : { server_id: this.terminalId, cwd: this.directory.trim() || null },
      },
    };
  }
}

/** The choices, and what is chosen though it is none of them any more. */
export function withChosen(choices: readonly Choice[], chosen: string): readonly Choice[] {
  return chosen === none || choices.some(({ value }) => value === chosen)
    ? choices
    : [...choices, { value: chosen, label: t("{id} (not available)", { id: chosen }) }];
}
