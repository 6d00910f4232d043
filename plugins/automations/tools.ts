import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool, type ToolContext } from "#kernel/tools/tool.ts";
import type { Automations } from "./automations.ts";
import { AutomationForm, AutomationUpdate, ListQuery } from "./schema.ts";

const text = (description: string) => ({ type: "string", description });
const id = text("Id of the automation");
const fields = {
  name: text("Name, which becomes the title of each chat"),
  prompt: text("Prompt that is sent at each run"),
  rrule: text("Recurrence rule such as FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9 in the user's time zone"),
  folder_id: text("Folder for the chats"),
};

type Parameters = Readonly<Record<string, unknown>>;
type Run = (parameters: Parameters, context: ToolContext) => Promise<unknown>;

const make = (
  name: string,
  about: { title: string; description: string; properties: object; required: string[] },
  run: Run,
) => {
  const { title, description, properties, required } = about;
  return defineTool({
    id: `automations.${name}`,
    category: "automations",
    permission: "features.automations",
    title,
    isActing: name !== "list_automations",
    spec: { name, description, parameters: { type: "object", properties, required } },
    run,
  });
};

const idOf = ({ id: given }: Parameters) => String(given ?? "");

/** Tools with which models keep the person's automations (contract 3.6, category `automations`). */
export function createAutomationTools(automations: Automations): Tool[] {
  return [
    make(
      "create_automation",
      {
        title: "Create an automation",
        description:
          "Has a prompt run by itself at times that a recurrence rule gives, with the model of this chat.",
        properties: { ...fields, model_id: text("Model; left out, it must be named by the person") },
        required: ["name", "prompt", "rrule", "model_id"],
      },
      async ({ name, folder_id: folder, prompt, rrule, model_id: model }, { principal }) =>
        await automations.create(
          principal,
          read(AutomationForm, { name, folder_id: folder, data: { prompt, rrule, model_id: model } }),
        ),
    ),
    make(
      "update_automation",
      {
        title: "Change an automation",
        description: "Changes an automation; what is left out stays.",
        properties: { id, ...fields },
        required: ["id"],
      },
      async ({ prompt, rrule, name, folder_id: folder, ...rest }, { principal }) =>
        await automations.update(
          principal,
          idOf(rest),
          read(AutomationUpdate, {
            name,
            folder_id: folder,
            data: { ...(prompt !== undefined && { prompt }), ...(rrule !== undefined && { rrule }) },
          }),
        ),
    ),
    make(
      "list_automations",
      {
        title: "List automations",
        description: "Lists the person's automations with their next runs.",
        properties: {
          query: text("Words in name or prompt"),
          status: { type: "string", enum: ["active", "paused"] },
        },
        required: [],
      },
      async ({ query, status }, { principal }) =>
        await automations.page(principal, read(ListQuery, { query, status })),
    ),
    make(
      "toggle_automation",
      {
        title: "Pause or resume an automation",
        description: "Pauses an automation, or resumes it.",
        properties: { id },
        required: ["id"],
      },
      async (parameters, { principal }) => await automations.toggle(principal, idOf(parameters)),
    ),
    make(
      "delete_automation",
      {
        title: "Delete an automation",
        description: "Deletes an automation with its history.",
        properties: { id },
        required: ["id"],
      },
      async (parameters, { principal }) => await automations.remove(principal, idOf(parameters)),
    ),
  ];
}

function read<T>(
  shape: {
    safeParse(
      value: unknown,
    ):
      | { success: true; data: T }
      | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } };
  },
  value: unknown,
): T {
  const result = shape.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new AppError("invalid", `${issue?.path.join(".")}: ${issue?.message}`);
  }
  return result.data;
}
