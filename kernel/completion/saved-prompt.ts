import type { Principal } from "#kernel/access/principal.ts";
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
 * A model's saved parameters with the variables of its system prompt filled in (contract §3.7); the very same object
 * when there are none. What the caller sends is left as it is on this surface.
 */
export function withFilledPrompt(
  saved: Bag,
  caller: Principal,
  findProfile: FindProfile,
): Bag | Promise<Bag> {
  const { system } = saved;
  if (typeof system !== "string" || !hasVariables(system)) {
    return saved;
  }
  return findProfile(caller).then((profile) => ({
    ...saved,
    system: fillTemplate(system, { now: new Date(), ...profile, variables: {} }),
  }));
}
