import { AppError } from "#kernel/errors.ts";
import type { SentMessage } from "./sent-tree.ts";

/** A message's place as it is stored. */
export interface Place {
  readonly id: string;
  readonly parent_id: string | null;
  readonly position: number;
}

/** The stored tree, as far as the sent messages touch it. */
export interface KnownTree {
  /** Sent messages, their parents, and the children of every parent whose children the sent ones change. */
  readonly places: ReadonlyMap<string, Place>;
  /** Every link of the chat; asked for only when a message moves. */
  readonly parents?: ReadonlyMap<string, string | null>;
}

export interface TreePlan {
  /** New messages. */
  readonly inserts: readonly { sent: SentMessage; parentId: string | null; position: number }[];
  /** Messages that exist; `parentId` is undefined for those that stay where they are. */
  readonly patches: readonly { sent: SentMessage; parentId: string | null | undefined }[];
  /** New places among siblings of messages that exist. */
  readonly positions: readonly { id: string; position: number }[];
}

export interface PlanRules {
  /** Mends links that lead nowhere or in a circle, and takes messages without a role: for what comes from elsewhere. */
  readonly heal: boolean;
}

/** True when a sent message hangs elsewhere than before: then every link of the chat is needed to plan. */
export function isMoving(sent: readonly SentMessage[], places: KnownTree["places"]): boolean {
  return sent.some(({ id, parentId }) => {
    const place = places.get(id);
    return place !== undefined && parentId !== undefined && parentId !== place.parent_id;
  });
}

/**
 * Decides where sent messages go. Messages that are not sent keep their place. Throws `invalid` for a parent that is
 * not there, for a circle, and for a new message without a role.
 */
export function planTree(sent: readonly SentMessage[], known: KnownTree, rules: PlanRules): TreePlan {
  const parents = toParents(sent, known, rules);
  breakCircles(sent, { parents, known: known.parents }, rules);
  const order = toPositions(sent, parents, known);
  const fresh = sent.filter(({ id }) => !known.places.has(id));
  for (const { id, message } of fresh) {
    if (message["role"] === undefined && !rules.heal) {
      throw new AppError("invalid", `The message ${id} is new and has no role.`);
    }
  }
  return {
    inserts: fresh.map((one) => ({
      sent: one,
      parentId: parents.get(one.id) ?? null,
      position: order.get(one.id) ?? 0,
    })),
    patches: sent
      .filter(({ id }) => known.places.has(id))
      .map((one) => {
        const parentId = parents.get(one.id) ?? null;
        return {
          sent: one,
          parentId: known.places.get(one.id)?.parent_id === parentId ? undefined : parentId,
        };
      }),
    positions: [...order]
      .map(([id, position]) => ({ id, position }))
      .filter(({ id, position }) => known.places.has(id) && known.places.get(id)?.position !== position),
  };
}

/** The parent each sent message will have. */
function toParents(sent: readonly SentMessage[], { places }: KnownTree, { heal }: PlanRules) {
  // A client that links downwards only is understood as well.
  const claimed = new Map<string, string>();
  for (const { id, childrenIds } of sent) {
    for (const child of childrenIds ?? []) {
      claimed.set(child, claimed.get(child) ?? id);
    }
  }
  const ids = new Set(sent.map(({ id }) => id));
  const parents = new Map<string, string | null>();
  for (const { id, parentId } of sent) {
    const place = places.get(id);
    let parent = parentId;
    if (parent === undefined) {
      parent = place === undefined ? (claimed.get(id) ?? null) : place.parent_id;
    }
    const stays = place !== undefined && place.parent_id === parent;
    if (parent !== null && !stays && !ids.has(parent) && !places.has(parent)) {
      if (!heal) {
        throw new AppError(
          "invalid",
          `The message ${id} names a parent that the chat does not have: ${parent}.`,
        );
      }
      parent = null;
    }
    parents.set(id, parent);
  }
  return parents;
}

interface Links {
  readonly parents: Map<string, string | null>;
  readonly known: ReadonlyMap<string, string | null> | undefined;
}

/** Walks up from every sent message; each link is looked at once. */
function breakCircles(sent: readonly SentMessage[], { parents, known }: Links, { heal }: PlanRules): void {
  const safe = new Set<string>();
  for (const { id } of sent) {
    const walked: string[] = [];
    const seen = new Set<string>();
    for (let at: string | null | undefined = id; at && !safe.has(at);) {
      if (seen.has(at)) {
        if (!heal) {
          throw new AppError("invalid", `The message ${at} would be its own ancestor.`);
        }
        parents.set(at, null);
        break;
      }
      seen.add(at);
      walked.push(at);
      at = parents.has(at) ? parents.get(at) : known?.get(at);
    }
    for (const one of walked) {
      safe.add(one);
    }
  }
}

/** Places among siblings wherever the sent messages say something about them. */
function toPositions(
  sent: readonly SentMessage[],
  parents: ReadonlyMap<string, string | null>,
  { places }: KnownTree,
): Map<string, number> {
  const children = new Map<string | null, { id: string; position: number }[]>();
  const add = (parent: string | null, id: string, position: number) => {
    const list = children.get(parent);
    return list ? void list.push({ id, position }) : void children.set(parent, [{ id, position }]);
  };
  for (const { id, parent_id, position } of places.values()) {
    if (!parents.has(id) || parents.get(id) === parent_id) {
      add(parent_id, id, position);
    }
  }
  // New siblings come last, in the order they were sent in.
  for (const { id } of sent) {
    if (isArriving(id, parents, places)) {
      add(parents.get(id) ?? null, id, Number.POSITIVE_INFINITY);
    }
  }
  const wanted = new Map(sent.map(({ id, childrenIds }) => [id as string | null, childrenIds]));
  const touched = new Set(
    sent.filter(({ id }) => isArriving(id, parents, places)).map(({ id }) => parents.get(id) ?? null),
  );
  const order = new Map<string, number>();
  for (const [parent, list] of children) {
    if (touched.has(parent) || wanted.get(parent) !== undefined) {
      const rank = new Map((wanted.get(parent) ?? []).map((id, at) => [id, at]));
      arrange(list, rank).forEach(({ id }, position) => void order.set(id, position));
    }
  }
  return order;
}

/** True for a message that is new, or new below this parent. */
function isArriving(
  id: string,
  parents: ReadonlyMap<string, string | null>,
  places: KnownTree["places"],
): boolean {
  const place = places.get(id);
  return place === undefined || place.parent_id !== (parents.get(id) ?? null);
}

/** Listed siblings in the listed order, then the others as they were. */
function arrange<T extends { id: string; position: number }>(
  list: T[],
  rank: ReadonlyMap<string, number>,
): T[] {
  const last = rank.size;
  return list.toSorted((a, b) => {
    const byRank = (rank.get(a.id) ?? last) - (rank.get(b.id) ?? last);
    return byRank !== 0 ? byRank : compare(a.position, b.position);
  });
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
