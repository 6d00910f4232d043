import { z } from "zod";
import type { ConfigRegistry } from "#config/registry.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { isMasked, maskKey } from "#kernel/upstream/mask.ts";
import { type CodeSettings, codeVariables } from "./config.ts";

export interface ConfigRouteParts {
  readonly settings: CodeSettings;
  readonly configuration: Pick<ConfigRegistry, "set">;
  /** Tells of a change; keys and addresses stay out of it. */
  changed(by: Principal): void;
}

type Field = keyof typeof codeVariables;
const fields = Object.keys(codeVariables) as Field[];

const Form = z.object(
  Object.fromEntries(
    fields.map((field) => [codeVariables[field].name, codeVariables[field].schema.nullish()]),
  ),
);
const View = z
  .object(Object.fromEntries(fields.map((field) => [codeVariables[field].name, codeVariables[field].schema])))
  .meta({ id: "CodeExecutionConfig" });

/** The secret and the address it belongs to: a secret never follows an address that others entered. */
const addresses: Partial<Record<Field, Field>> = {
  token: "url",
  password: "url",
  interpreterToken: "interpreterUrl",
  interpreterPassword: "interpreterUrl",
};

/** `/configs/code_execution` (contract 10). Secrets are shown masked and may come back so: promise S107. */
export function configRoutes({ settings, configuration, changed }: ConfigRouteParts) {
  const view = () =>
    Object.fromEntries(
      fields.map((field) => {
        const { name, secret } = codeVariables[field];
        return [name, secret ? maskKey(String(settings[field])) : settings[field]];
      }),
    );
  return [
    defineRoute(
      {
        method: "GET",
        path: "/configs/code_execution",
        summary: "Read how code is run",
        access: "admin",
        returns: View,
        alwaysOn: true,
      },
      view,
    ),
    defineRoute(
      {
        method: "POST",
        path: "/configs/code_execution",
        summary: "Change how code is run; what is left out stays",
        access: "admin",
        body: Form,
        returns: View,
        fails: [400],
        alwaysOn: true,
      },
      async ({ body, caller }) => {
        await configuration.set(toChanges(body, settings), caller.userId);
        changed(caller);
        return view();
      },
    ),
  ];
}

function toChanges(body: Readonly<Record<string, unknown>>, settings: CodeSettings) {
  const changes: Record<string, unknown> = {};
  for (const field of fields) {
    const { name } = codeVariables[field];
    const given = body[name];
    if (given === undefined || given === null || isSame(field, given, settings)) {
      continue;
    }
    changes[name] = given;
  }
  for (const [secret, address] of Object.entries(addresses) as [Field, Field][]) {
    const moved = changes[codeVariables[address].name];
    const isKept = changes[codeVariables[secret].name] === undefined;
    if (moved !== undefined && isKept && settings[secret] !== "" && !isSameOrigin(moved, settings[address])) {
      throw new AppError(
        "invalid",
        `${codeVariables[secret].name}: enter it again for the new address, or leave it empty.`,
      );
    }
  }
  return changes;
}

/** Settings that come back as they were shown are not changed, so that they go on following the environment. */
function isSame(field: Field, given: unknown, settings: CodeSettings): boolean {
  if (!codeVariables[field].secret || !isMasked(String(given))) {
    return given === settings[field];
  }
  if (given === maskKey(String(settings[field]))) {
    return true;
  }
  throw new AppError("invalid", `${codeVariables[field].name}: is the mask of no stored value.`);
}

function isSameOrigin(a: unknown, b: unknown): boolean {
  return URL.parse(String(a))?.origin === URL.parse(String(b))?.origin;
}
