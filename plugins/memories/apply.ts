import { AppError } from "#kernel/errors.ts";
import { limits, type Memory, type Operation, type Origin, type Remembered } from "./schema.ts";
import { addChange, countMemories, deleteMemories, listMemories, putMemory } from "./store.ts";
import type { MemoryDatabase } from "./tables.ts";

/** The origin of operations, and whether the person has to say yes before they hold. */
export interface Cause {
  readonly source: Origin;
  readonly isProposed?: boolean;
}

/** The result of one operation: the memory as it is now, or as it was before it was removed. */
export interface Outcome {
  readonly action: Operation["action"];
  readonly memory: Memory;
}

/** Carries out one operation on the memories of a person and writes it down. The person's memories are locked. */
export async function applyOperation(
  tx: MemoryDatabase,
  userId: string,
  operation: Operation,
  { source, isProposed = false }: Cause,
): Promise<Outcome> {
  const { action } = operation;
  const before = action === "add" ? undefined : await requireOwn(tx, userId, operation.id);
  if (before === undefined) {
    await requireRoom(tx, userId);
  }
  const after = toRemembered(operation, before, { source, ...(isProposed && { proposed: true }) });
  const memory = await (after === undefined
    ? remove(tx, before as Memory)
    : putMemory(tx, userId, { id: before?.id, ...after }));
  await addChange(tx, {
    userId,
    memoryId: memory.id,
    action,
    before: before ? partsOf(before) : null,
    after: after ?? null,
    source,
  });
  return { action, memory };
}

/** The memory as the operation leaves it; undefined when it goes. What others brought in changes nothing that was kept. */
function toRemembered(
  operation: Operation,
  before: Memory | undefined,
  meta: Remembered["meta"],
): Remembered | undefined {
  switch (operation.action) {
    case "add":
      return { type: operation.type, path: operation.path || null, content: operation.content, meta };
    case "replace":
      return before && { ...partsOf(before), content: operation.content, meta };
    case "move":
      return (
        before && {
          ...partsOf(before),
          type: operation.type ?? before.type,
          path:
            operation.path === undefined || operation.path === null ? before.path : operation.path || null,
        }
      );
    case "remove":
      return undefined;
  }
}

const partsOf = ({ type, path, content, meta }: Memory): Remembered => ({ type, path, content, meta });

async function requireOwn(tx: MemoryDatabase, userId: string, id: string): Promise<Memory> {
  const [row] = await listMemories(tx, { userId, ids: [id] });
  if (row === undefined) {
    throw new AppError("not_found", "Not found");
  }
  return row;
}

async function requireRoom(tx: MemoryDatabase, userId: string): Promise<void> {
  if ((await countMemories(tx, userId)) >= limits.memories) {
    throw new AppError("invalid", `There is room for ${limits.memories} memories: remove some first.`);
  }
}

async function remove(tx: MemoryDatabase, memory: Memory): Promise<Memory> {
  await deleteMemories(tx, memory.user_id, [memory.id]);
  return memory;
}
