import { serverNow } from "#plugins/web/kit/stores/server-time.ts";
import type { Api } from "#plugins/catalogue.ts";

export type Banner = Api["GET /api/v1/configs/banners"]["answer"][number];

/** How each type of banner looks. */
export const kinds = { info: "info", success: "good", warning: "warning", error: "bad" } as const;

export function createBanner(): Banner {
  return {
    id: crypto.randomUUID(),
    type: "info",
    title: "",
    content: "",
    dismissible: true,
    timestamp: now(),
  };
}

/** The list with one banner moved by `by` places. */
export function move(banners: readonly Banner[], index: number, by: 1 | -1): Banner[] {
  const [moved] = banners.slice(index, index + 1);
  const others = banners.toSpliced(index, 1);
  return moved ? others.toSpliced(index + by, 0, moved) : [...banners];
}

/** What is stored: a banner that says something else is a new one, which those who dismissed the old one see as well. */
export function toSaved(banners: readonly Banner[], before: readonly Banner[]): Banner[] {
  return banners.map((banner) => {
    const old = before.find(({ id }) => id === banner.id);
    const says = (one: Banner) => JSON.stringify([one.type, one.title, one.content]);
    return old === undefined || says(old) === says(banner)
      ? banner
      : { ...banner, id: crypto.randomUUID(), timestamp: now() };
  });
}

interface Lists {
  /** What the window has seen as stored. */
  readonly seen: readonly Banner[];
  readonly stored: readonly Banner[];
  readonly typed: readonly Banner[];
}

/** The ids of all lists, in the order of this window; of the stored list where this one only removed and added. */
export function joinOrder({ seen, stored, typed }: Lists): string[] {
  const [before, now, mine] = [seen, stored, typed].map((list) => list.map(({ id }) => id)) as [
    string[],
    string[],
    string[],
  ];
  const unmoved = [...before.filter((id) => mine.includes(id)), ...mine.filter((id) => !before.includes(id))];
  const isMoved = unmoved.join() !== mine.join();
  return [...new Set(isMoved ? [...mine, ...now] : [...now, ...mine])];
}

const now = () => Math.floor(serverNow() / 1000);
