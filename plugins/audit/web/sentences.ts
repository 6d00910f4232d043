import { plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toLabel } from "#plugins/web/kit/setting-label.ts";
import { type Act, type GrantChange, type Party, toGrantChange, toPeople } from "./acts.ts";
import { names } from "./names.svelte.ts";
import type { AuditRecord } from "./records.ts";

/** An act as people say it: "Ada Admin offered the model “m-fast” to Editors". */
export function sentenceOf({ records }: Act): string {
  // The first record is what was asked for; others follow from it.
  const first = records.at(-1) as AuditRecord;
  const isOfOneKind = records.every(({ action }) => action === first.action);
  if (records.length > 1 && isOfOneKind && first.object_type === "setting") {
    return t("{who} changed {count} settings: {names}", {
      who: whoOf(first),
      count: records.length,
      names: records.map(({ object_id: id }) => toLabel(id)).join(", "),
    });
  }
  const sentence = toSentence(first);
  return records.length === 1
    ? sentence
    : `${sentence} ${plural(records.length - 1, "and {count} more change", "and {count} more changes")}`;
}

export const whoOf = ({ actor_name: name, actor_id: id }: AuditRecord): string =>
  name ?? (id === null ? t("The server") : names.user(id));

function toSentence(record: AuditRecord): string {
  const who = whoOf(record);
  const what = thingOf(record);
  const people = toPeople(record)
    .map((id) => names.user(id))
    .join(", ");
  const grants = toGrantChange(record);
  switch (record.action.slice(record.action.lastIndexOf(".") + 1)) {
    case "created":
      return t("{who} created {what}", { who, what });
    case "updated":
      return grants ? toGrantSentence(grants, { who, what }) : t("{who} changed {what}", { who, what });
    case "access_updated":
      return t("{who} changed who may use {what}", { who, what });
    case "deleted":
      return t("{who} deleted {what}", { who, what });
    case "enabled":
      return t("{who} switched on {what}", { who, what });
    case "disabled":
      return t("{who} switched off {what}", { who, what });
    case "imported":
      return t("{who} imported {what}", { who, what });
    case "valves_updated":
      return t("{who} changed the valves of {what}", { who, what });
    case "approved":
      return t("{who} approved {what}", { who, what });
    case "declined":
      return t("{who} declined {what}", { who, what });
    case "asked":
      return t("{who} asked for approval of {what}", { who, what });
    case "started":
      return t("{who} started {what}", { who, what });
    case "downloaded":
      return t("{who} downloaded {what}", { who, what });
    case "member_added":
      return people === ""
        ? t("{who} added people to {what}", { who, what })
        : t("{who} added {people} to {what}", { who, people, what });
    case "member_removed":
      return people === ""
        ? t("{who} removed people from {what}", { who, what })
        : t("{who} removed {people} from {what}", { who, people, what });
    case "session_revoked":
    case "sessions_revoked":
      return t("{who} ended sessions of {what}", { who, what });
    case "viewed":
      return t("{who} viewed the platform as {what}", { who, what });
    case "reset":
      return t("{who} reset {what}", { who, what });
    default:
      return t("{who}: {action}, {what}", { who, action: record.action, what });
  }
}

function toGrantSentence(
  { given, taken }: GrantChange,
  { who, what }: { who: string; what: string },
): string {
  if (given.length > 0 && taken.length > 0) {
    return t("{who} offered {what} to {given}, and no longer to {taken}", {
      who,
      what,
      given: toNames(given),
      taken: toNames(taken),
    });
  }
  if (given.length + taken.length === 0) {
    return t("{who} changed who may use {what}", { who, what });
  }
  return given.length > 0
    ? t("{who} offered {what} to {given}", { who, what, given: toNames(given) })
    : t("{who} no longer offers {what} to {taken}", { who, what, taken: toNames(taken) });
}

function toNames(parties: readonly Party[]): string {
  return parties
    .map(({ kind, id }) =>
      kind === "everyone" ? t("everyone") : kind === "group" ? names.group(id) : names.user(id),
    )
    .join(", ");
}

/** The thing with its kind, in the case of an object. */
function thingOf({ object_type: type, object_id: id, object_name: given }: AuditRecord): string {
  const name = given ?? (type === "user" ? names.user(id) : type === "group" ? names.group(id) : id);
  switch (type) {
    case "setting":
      return t("the setting “{name}”", { name: toLabel(id) });
    case "user":
      return t("the account of {name}", { name });
    case "group":
      return t("the group “{name}”", { name });
    case "model":
      return t("the model “{name}”", { name });
    case "function":
      return t("the function “{name}”", { name });
    case "tool":
      return t("the tool “{name}”", { name });
    case "prompt":
      return t("the prompt “{name}”", { name });
    case "skill":
      return t("the skill “{name}”", { name });
    case "knowledge":
      return t("the collection “{name}”", { name });
    case "app":
      return t("the app “{name}”", { name });
    case "job":
      return t("the job “{name}”", { name });
    default:
      return `“${name}”`;
  }
}
