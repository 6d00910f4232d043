import { plural, t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { toLabel } from "#plugins/web/kit/setting-label.ts";
import type { AuditVerb } from "../entry.ts";
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

interface Words {
  readonly who: string;
  readonly what: string;
}

/** A sentence for each verb that is recorded anywhere: the type of `action` allows no other. */
const sentences: Readonly<Record<AuditVerb, (words: Words, record: AuditRecord) => string>> = {
  created: (words) => t("{who} created {what}", { ...words }),
  updated: toUpdateSentence,
  access_updated: (words) => t("{who} changed who may use {what}", { ...words }),
  version_updated: (words) => t("{who} published a version of {what}", { ...words }),
  deleted: (words) => t("{who} deleted {what}", { ...words }),
  enabled: (words) => t("{who} switched on {what}", { ...words }),
  disabled: (words) => t("{who} switched off {what}", { ...words }),
  imported: (words) => t("{who} imported {what}", { ...words }),
  valves_updated: (words) => t("{who} changed the valves of {what}", { ...words }),
  approved: (words) => t("{who} approved {what}", { ...words }),
  declined: (words) => t("{who} declined {what}", { ...words }),
  asked: (words) => t("{who} asked for approval of {what}", { ...words }),
  started: (words) => t("{who} started {what}", { ...words }),
  downloaded: (words) => t("{who} downloaded {what}", { ...words }),
  invited: (words) => t("{who} created an invitation link for {what}", { ...words }),
  added: toChannelSentence,
  removed: toChannelSentence,
  registered: (words) => t("{who} registered an OAuth client in {what}", { ...words }),
  member_added: toMemberSentence,
  member_removed: toMemberSentence,
  session_revoked: (words) => t("{who} ended sessions of {what}", { ...words }),
  sessions_revoked: (words) => t("{who} ended sessions of {what}", { ...words }),
  viewed: (words) => t("{who} viewed the platform as {what}", { ...words }),
  view_ended: (words) => t("{who} stopped viewing the platform as {what}", { ...words }),
  reset: (words) => t("{who} reset {what}", { ...words }),
  ordered: ({ who }) => t("{who} started a backup", { who }),
  verified: (words) => t("{who} started a check of {what}", { ...words }),
  run: (words) => t("{who} ran a command in {what}", { ...words }),
  undone: (words) => t("{who} undid a run in {what}", { ...words }),
  file_removed: (words) => t("{who} removed {what} from the search index", { ...words }),
  index_reset: ({ who }) => t("{who} reset the search index", { who }),
  uploads_removed: ({ who }) => t("{who} deleted all uploaded files", { who }),
};

function toSentence(record: AuditRecord): string {
  const words = { who: whoOf(record), what: thingOf(record) };
  const verb = record.action.slice(record.action.lastIndexOf(".") + 1);
  // Plugins from elsewhere may record verbs of their own.
  return Object.hasOwn(sentences, verb)
    ? sentences[verb as AuditVerb](words, record)
    : t("{who}: {action}, {what}", { action: record.action, ...words });
}

function toUpdateSentence(words: Words, record: AuditRecord): string {
  const grants = toGrantChange(record);
  return grants ? toGrantSentence(grants, words) : t("{who} changed {what}", { ...words });
}

function toMemberSentence(words: Words, record: AuditRecord): string {
  const people = toPeople(record)
    .map((id) => names.user(id))
    .join(", ");
  const isAdded = record.action.endsWith("added");
  if (people === "") {
    return isAdded
      ? t("{who} added people to {what}", { ...words })
      : t("{who} removed people from {what}", { ...words });
  }
  return isAdded
    ? t("{who} added {people} to {what}", { ...words, people })
    : t("{who} removed {people} from {what}", { ...words, people });
}

function toChannelSentence(words: Words, { action, after }: AuditRecord): string {
  const channel = String((after as { channel?: unknown } | null)?.channel ?? "");
  return action.endsWith("added")
    ? t("{who} added {what} to the channel “{channel}”", { ...words, channel })
    : t("{who} removed {what} from the channel “{channel}”", { ...words, channel });
}

function toGrantSentence({ given, taken }: GrantChange, { who, what }: Words): string {
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
    case "backup":
      return t("the backup “{name}”", { name });
    case "database":
      return t("the database");
    case "gateway_workspace":
      return t("the gateway workspace “{name}”", { name });
    case "gateway_key":
      return t("the gateway key “{name}”", { name });
    default:
      return `“${name}”`;
  }
}
