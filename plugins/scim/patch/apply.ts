import { isObject } from "#config/json-values.ts";
import type { ResourceKind } from "../discovery/urns.ts";
import { refusal } from "../errors.ts";
import type { State } from "../resources/state.ts";
import { changeList } from "./lists.ts";
import type { Operation } from "./operations.ts";
import { readTarget, type Target } from "./path.ts";
import { toSingle, toValue } from "./values.ts";

type AttributeTarget = Extract<Target, { kind: "attribute" }>;

/**
 * Applies operations to a copy of a resource's state, in their order (RFC 7644, 3.5.2; contract D.27). Throws `invalid`
 * for the first that does not fit: nothing is applied then.
 */
export function applyPatch<S extends object>(
  kind: ResourceKind,
  { id, state }: { id: string; state: S },
  operations: readonly Operation[],
): S {
  const copy = structuredClone(state) as State;
  for (const operation of operations) {
    if (operation.path === undefined) {
      applyToResource(copy, { kind, id }, operation);
    } else {
      const target = readTarget(kind, operation.path);
      requireWritable(target, operation, id);
      apply(copy, { kind, id }, { target, operation });
    }
  }
  return copy as S;
}

interface Place {
  readonly kind: ResourceKind;
  readonly id: string;
}

/** A value without a path names attributes; names with dots and with schemas are paths of their own (Entra, Okta). */
function applyToResource(state: State, place: Place, operation: Operation): void {
  if (operation.op === "remove") {
    throw refusal("noTarget", "The operation remove needs a path.");
  }
  if (!isObject(operation.value)) {
    throw refusal("invalidValue", "A value without a path must be an object of attributes.");
  }
  for (const [name, value] of Object.entries(operation.value)) {
    const target = readTarget(place.kind, name);
    // Clients send back what they were sent.
    const isForeign =
      (target.kind === "server" && target.name !== "id") ||
      (target.kind === "attribute" && target.attribute.mutability === "readOnly");
    if (!isForeign) {
      apply(state, place, { target, operation: { ...operation, path: name, value } });
    }
  }
}

function requireWritable(target: Target, { path, value }: Operation, id: string): void {
  const isReadOnly =
    (target.kind === "server" && !(target.name === "id" && value === id)) ||
    (target.kind === "attribute" && target.attribute.mutability === "readOnly");
  if (isReadOnly) {
    throw refusal("mutability", `${String(path).slice(0, 100)} cannot be written.`);
  }
}

function apply(
  state: State,
  place: Place,
  { target, operation }: { target: Target; operation: Operation },
): void {
  switch (target.kind) {
    case "ignored":
      return;
    case "resource":
      applyToResource(state, place, { ...operation, path: undefined });
      return;
    case "server":
      requireWritable(target, operation, place.id);
      return;
    case "attribute":
      if (target.attribute.multiValued) {
        changeList(state, target, operation);
      } else if (target.part === undefined) {
        changeValue(state, target, operation);
      } else {
        changePart(state, target, operation);
      }
  }
}

function changeValue(state: State, { attribute }: AttributeTarget, { op, value }: Operation): void {
  const given = op === "remove" ? undefined : toValue(attribute, value);
  if (given === undefined) {
    if (attribute.required) {
      throw refusal("mutability", `${attribute.name} cannot be removed.`);
    }
    delete state[attribute.name];
    return;
  }
  const known = state[attribute.name];
  // Parts that are not named stay as they are.
  state[attribute.name] = attribute.type === "complex" && isObject(known) ? { ...known, ...given } : given;
}

function changePart(state: State, { attribute, part }: AttributeTarget, { op, value }: Operation): void {
  if (part === undefined) {
    return;
  }
  const known = state[attribute.name];
  const parts: State = isObject(known) ? { ...known } : {};
  const given = op === "remove" || value === null ? undefined : toSingle(part, value);
  if (given === undefined) {
    delete parts[part.name];
  } else {
    parts[part.name] = given;
  }
  if (Object.keys(parts).length === 0) {
    delete state[attribute.name];
  } else {
    state[attribute.name] = parts;
  }
}
