import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { channelList, nameOf } from "./channel-list.svelte.ts";
import { toMention } from "./mention-text.ts";

/** One line of the list that `@` or `#` opens. */
export interface MentionChoice {
  readonly title: string;
  readonly kind: string;
  readonly text: string;
}

const mostShown = 12;
let models: Promise<readonly { id: string; name: string }[]> | undefined;

/** People and models for `@`, channels for `#`, whose names fit. */
export async function findMentions(
  channelId: string,
  kind: "@" | "#",
  query: string,
): Promise<readonly MentionChoice[]> {
  const wanted = query.toLowerCase();
  if (kind === "#") {
    return channelList.items
      .filter((item) => item.type !== "dm" && nameOf(item).includes(wanted))
      .slice(0, mostShown)
      .map((item) => ({
        title: item.name,
        kind: t("Channel"),
        text: toMention("C", item.id, item.name),
      }));
  }
  models ??= readModels();
  const [people, known] = await Promise.all([
    server.call("GET /api/v1/channels/:id/members", { params: { id: channelId }, query: { query } }),
    models,
  ]);
  return [
    ...people.users.map(({ id, name, is_app: isApp }) => ({
      title: name,
      kind: isApp ? t("App") : t("Person"),
      text: toMention("U", id, name),
    })),
    ...known
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map(({ id, name }) => ({ title: name, kind: t("Model"), text: toMention("M", id, name) })),
  ].slice(0, mostShown);
}

async function readModels(): Promise<readonly { id: string; name: string }[]> {
  const { data } = (await server.call("GET /api/models")) as { data: { id: string; name: string }[] };
  return data;
}
