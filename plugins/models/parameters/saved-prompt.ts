import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { withOptions } from "./model-controls.ts";
import { fillTemplate, hasVariables, type TemplateFacts } from "./template.ts";

type Bag = Readonly<Record<string, unknown>>;

/** Looks up what templates may name beyond what the principal holds. */
export type FindProfile = (principal: Principal) => Promise<Pick<TemplateFacts, "timeZone" | "user">>;

/**
 * A request of the Responses format with a model's saved system prompt ahead of its own instructions; the very same
 * object when there is none.
 */
export function withInstructions<B extends Bag>(body: B, { system }: Bag): B {
  if (typeof system !== "string" || system === "") {
    return body;
  }
  const own = body["instructions"];
  return { ...body, instructions: typeof own === "string" && own !== "" ? `${system}\n${own}` : system };
}

/**
 * A request of the vendor's message format with a model's saved system prompt ahead of its own; the very same object
 * when there is none. Throws `unprocessable` for a prompt of its own that nothing can be put ahead of.
 */
export function withSystemBlocks<B extends Bag>(body: B, { system }: Bag): B {
  if (typeof system !== "string" || system === "") {
    return body;
  }
  const own = body["system"] ?? [];
  const rest = typeof own === "string" ? [{ type: "text", text: own }] : own;
  if (!Array.isArray(rest)) {
    throw new AppError("unprocessable", [
      {
        type: "invalid_type",
        loc: ["body", "system"],
        msg: "must be a text or a list of blocks",
        input: null,
      },
    ]);
  }
  return { ...body, system: [{ type: "text", text: system }, ...rest] };
}

/**
 * A model's saved parameters as they hold for a request that is passed on: with the default options of its controls and
 * the variables of its system prompt filled in (contract §3.7); the very same object when there are none. What the
 * caller sends is left as it is on this surface.
 */
export function withFilledPrompt(
  saved: Bag,
  caller: Principal,
  findProfile: FindProfile,
): Bag | Promise<Bag> {
  const chosen = withOptions(saved);
  const { system } = chosen;
  if (typeof system !== "string" || !hasVariables(system)) {
    return chosen;
  }
  return findProfile(caller).then((profile) => ({
    ...chosen,
    system: fillTemplate(system, { now: new Date(), ...profile, variables: {} }),
  }));
}
