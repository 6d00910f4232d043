import { sql } from "kysely";
import { seconds } from "#storage/clock.ts";
import { toJson } from "#storage/values.ts";
import type { ChatParts } from "../parts.ts";
import { toStorableJson } from "../storable.ts";
import type { ChatDatabase } from "../tables.ts";
import type { CallPlace, Replies } from "./service-types.ts";

type Bag = Readonly<Record<string, unknown>>;

/** Questions of calls whose run was interrupted while it waited for the person. */
export function createWaitingCalls({
  db,
  transaction,
}: Pick<ChatParts, "db" | "transaction">): Pick<Replies, "waitingQuestion" | "answerWaiting"> {
  return {
    async waitingQuestion(place) {
      const output = await atRest(db, place).executeTakeFirst();
      return findWaiting(output?.output, place.callId)?.["question"];
    },

    answerWaiting: (place, result) =>
      transaction(async (tx) => {
        const row = await atRest(tx, place).forUpdate().executeTakeFirst();
        const items = Array.isArray(row?.output) ? (row.output as Bag[]) : [];
        const call = findWaiting(items, place.callId);
        if (call === undefined) {
          return false;
        }
        const { question: _answered, ...rest } = call;
        const answered = [{ ...rest, status: "completed" }, result];
        const output = items.flatMap((item) => (item === call ? answered : [item]));
        await tx
          .updateTable("chat_message")
          .set({ output: toJson(JSON.parse(toStorableJson(output))), updated_at: seconds() })
          .where("chat_id", "=", place.chatId)
          .where("id", "=", place.messageId)
          .execute();
        return true;
      }),
  };
}

function atRest(db: ChatDatabase, { chatId, messageId }: CallPlace) {
  return db
    .selectFrom("chat_message")
    .select("output")
    .where("chat_id", "=", chatId)
    .where("id", "=", messageId)
    .where("run_id", "is", null)
    .where(sql<boolean>`done is true`);
}

function findWaiting(output: unknown, callId: string): Bag | undefined {
  const items = Array.isArray(output) ? (output as Bag[]) : [];
  return items.findLast(
    (item) =>
      item?.["type"] === "function_call" &&
      item["call_id"] === callId &&
      item["status"] === "pending" &&
      item["question"] !== undefined,
  );
}
