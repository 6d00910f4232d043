import type { Principal } from "#kernel/access/principal.ts";
import type { LazyMembers } from "#kernel/sandbox.ts";
import type { ValveValues } from "../valves/valve-set.ts";

/** Code that is called: a function or a workspace tool. */
export interface CalledCode {
  readonly id: string;
  /** Saved values over defaults. */
  readonly valves: ValveValues;
}

type Bag = Readonly<Record<string, unknown>>;

/** The facts of a call, from which the context of the function is made. */
export interface CallFacts {
  readonly principal?: Principal | undefined;
  /** `{id, name?, meta}` of the model the caller named. */
  readonly model?: Bag | undefined;
  /** Made when code reads it: free-form notes of the request; what inlet returned as `metadata` arrives in stream and outlet. */
  readonly metadata?: (() => Bag) | undefined;
  readonly chatId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly files?: readonly unknown[] | null | undefined;
  readonly features?: Bag | null | undefined;
  readonly task?: string | undefined;
  /** The function's own id, or the sub id of a pipe or an action. */
  readonly id?: string | undefined;
}

/**
 * The `ctx` that hooks get (contract D.29), as plain JSON; the sandbox adds `host`.
 *
 * - `user`: `{id, name, email, role}` of the caller, null when the server itself acts. No secrets, no settings.
 * - `metadata`: an object; `model`: `{id, name?, meta}` or null.
 * - `valves`, `userValves`: saved values over defaults; `userValves` are the caller's own.
 * - `chat_id`, `message_id`, `session_id`, `task`: texts or null. `files`: a list. `features`: an object.
 * - `id`: the function's own id, or the sub id of a pipe or an action.
 */
export function toContext(fn: CalledCode, facts: CallFacts, userValves: ValveValues) {
  return {
    ...toConstant(fn, facts.principal, userValves),
    ...toPlace(facts),
    id: facts.id ?? fn.id,
    metadata: facts.metadata?.() ?? {},
    model: facts.model ?? null,
  };
}

/** The same in parts, as the sandbox takes them: what other calls share, what is this call's own, and what is read later. */
export function toParts(fn: CalledCode, facts: CallFacts, userValves: ValveValues) {
  const texts = textsOf(fn, facts.principal, userValves);
  const { chatId, messageId, sessionId, files, features, task, id } = facts;
  const isNowhere = (chatId ?? messageId ?? sessionId ?? files ?? features ?? task ?? id) === undefined;
  return {
    shared: isNowhere ? texts.nowhere : texts.constant,
    own: isNowhere ? nothingOwn : { ...toPlace(facts), ...(id !== undefined && { id }) },
    lazyMembers: toLazyMembers(facts),
  };
}

/** The lists and objects of a context are a call's own, even empty ones. */
const nothingOwn = Object.freeze({ files: [], features: {} });

interface Texts {
  readonly userValves: ValveValues;
  /** Members that stay the same from call to call. */
  readonly constant: string;
  /** That, for a call that belongs to no chat. */
  readonly nowhere: string;
}

/** Texts by person, of each function: hooks are called for every request, and most of them by the same few. */
const known = new WeakMap<CalledCode, Map<Principal | undefined, Texts>>();
const mostPersons = 500;
/** Longer ones would take too much memory. */
const mostKept = 4096;

function textsOf(fn: CalledCode, principal: Principal | undefined, userValves: ValveValues): Texts {
  const texts = known.get(fn)?.get(principal);
  if (texts?.userValves === userValves) {
    return texts;
  }
  const constant = toConstant(fn, principal, userValves);
  const { files: _files, features: _features, ...place } = toPlace({});
  const written = {
    userValves,
    constant: JSON.stringify(constant),
    nowhere: JSON.stringify({ ...constant, ...place }),
  };
  if (written.nowhere.length <= mostKept) {
    keep(fn, principal, written);
  }
  return written;
}

function keep(fn: CalledCode, principal: Principal | undefined, texts: Texts): void {
  const before = known.get(fn);
  const ofFunction = before && before.size < mostPersons ? before : new Map<Principal | undefined, Texts>();
  ofFunction.set(principal, texts);
  known.set(fn, ofFunction);
}

function toConstant(fn: CalledCode, principal: Principal | undefined, userValves: ValveValues) {
  return { user: principal ? toUser(principal) : null, valves: fn.valves, userValves, id: fn.id };
}

function toPlace(facts: CallFacts) {
  return {
    chat_id: facts.chatId ?? null,
    message_id: facts.messageId ?? null,
    session_id: facts.sessionId ?? null,
    files: facts.files ?? [],
    features: facts.features ?? {},
    task: facts.task ?? null,
  };
}

/** The JSON of what stream hooks get at once; what a caller may make long is given by `toStreamLazyMembers`, for all of them alike. */
export function toStreamContext(fn: CalledCode, { principal }: CallFacts, userValves: ValveValues): string {
  return textsOf(fn, principal, userValves).constant;
}

export function toStreamLazyMembers(facts: CallFacts): LazyMembers {
  const place = Object.entries(toPlace(facts));
  const texts = place.map(([name, value]) => [name, () => JSON.stringify(value)] as const);
  return { ...Object.fromEntries(texts), ...toLazyMembers(facts) };
}

/** The long members of the context, which most code does not read. */
export function toLazyMembers({ metadata, model }: CallFacts): LazyMembers {
  return { metadata: () => JSON.stringify(metadata?.() ?? {}), model: () => toModelText(model) };
}

const modelTexts = new WeakMap<Bag, string>();

function toModelText(model: Bag | undefined): string {
  if (model === undefined) {
    return "null";
  }
  let text = modelTexts.get(model);
  if (text === undefined) {
    text = JSON.stringify(model);
    modelTexts.set(model, text);
  }
  return text;
}

/** The caller as user code sees it. */
export function toUser({ userId, name, email, role }: Principal) {
  return { id: userId, name, email, role };
}

const models = new WeakMap<Bag, Bag>();

/**
 * The model as functions see it, without its pictures: they are long, and every call would copy them. The same object
 * for the same model, which must not be changed.
 */
export function toModel(id: string, meta: Bag): Bag {
  let model = models.get(meta);
  if (model?.["id"] !== id) {
    const { profile_image_url: _picture, background_image_url: _background, ...rest } = meta;
    model = { id, meta: rest };
    models.set(meta, model);
  }
  return model;
}
