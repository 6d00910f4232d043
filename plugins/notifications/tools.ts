import { z } from "zod";
import { AppError } from "#kernel/errors.ts";
import { defineTool, type Tool } from "#kernel/tools/tool.ts";
import type { Targets } from "./targets/targets.ts";

const Parameters = z.object({
  message: z.string().trim().min(1).max(2_000),
  target: z.string().min(1).max(100).optional(),
  title: z.string().trim().max(200).optional(),
});

/** The tool with which models reach a person who is away (contract §3.6, category `notifications`). */
export function createNotificationTools(targets: Pick<Targets, "isOn" | "notify">): readonly Tool[] {
  return [
    defineTool({
      id: "notifications.notify",
      category: "notifications",
      permission: "features.webhooks",
      title: "Notify the person",
      spec: {
        name: "notify",
        description: "Sends a short message to an address of the person, such as a chat of theirs.",
        parameters: {
          type: "object",
          properties: {
            message: { type: "string", maxLength: 2_000, description: "What the person should know" },
            target: {
              type: "string",
              description: "Id of one of the person's targets; the default one without it",
            },
            title: { type: "string", maxLength: 200 },
          },
          required: ["message"],
        },
      },
      isOffered: () => targets.isOn(),
      async run(parameters, { principal, signal }) {
        const read = Parameters.safeParse(parameters);
        if (!read.success) {
          const [issue] = read.error.issues;
          throw new AppError("invalid", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
        }
        return await targets.notify(principal, read.data, signal);
      },
    }),
  ];
}
