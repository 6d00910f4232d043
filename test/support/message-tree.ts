export interface TreeNode {
  readonly id: string;
  readonly parentId: string | null;
  readonly childrenIds: readonly string[];
}

/** Lists the faults of a tree of messages: lost links, orphans, circles. */
export function faultsOf(messages: Readonly<Record<string, TreeNode>>): string[] {
  const faults: string[] = [];
  for (const { id, parentId, childrenIds } of Object.values(messages)) {
    if (parentId !== null && messages[parentId]?.childrenIds.includes(id) !== true) {
      faults.push(`${id} is an orphan of ${parentId}`);
    }
    faults.push(
      ...childrenIds
        .filter((child) => messages[child]?.parentId !== id)
        .map((child) => `${id} claims ${child}`),
    );
    const seen = new Set<string>();
    for (let at: string | null = id; at !== null; at = messages[at]?.parentId ?? null) {
      if (seen.has(at)) {
        faults.push(`${id} is in a circle`);
        break;
      }
      seen.add(at);
    }
  }
  return faults;
}
