import { sql, type SqlBool } from "kysely";
import type { ConfigRegistry } from "#config/registry.ts";
import { createByteLimit, createConcurrencyLimit } from "#kernel/account-limits.ts";
import { createFairQueue } from "#kernel/fair-queue.ts";
import type { Principal } from "#kernel/access/principal.ts";
import type { Access } from "#kernel/access/resource.ts";
import type { Events } from "#kernel/events.ts";
import type { Slot } from "#kernel/service.ts";
import type { Hub } from "#kernel/sockets/hub.ts";
import { seconds } from "#storage/clock.ts";
import { granted, type Grants } from "#storage/grants.ts";
import type { Accounts } from "#plugins/accounts/service.ts";
import type { FileReferences, Files } from "#plugins/files/service.ts";
import type { ReadMarks } from "#plugins/realtime/service.ts";
import { createLoaders } from "./access.ts";
import { linkedFilesOf } from "./files/chat-files.ts";
import { createBranches } from "./reading/branches.ts";
import { createChatActions } from "./chats.ts";
import { createContext } from "./context.ts";
import { createCopies } from "./copies.ts";
import { createMessageEvents } from "./replies/events.ts";
import { createFolderChats, toFolderReference } from "./folders/folder-chats.ts";
import { createMessageActions } from "./tree/messages.ts";
import { createRemoval } from "./removal.ts";
import { createReplies } from "./replies/replies.ts";
import { explainChats } from "./sharing/explain.ts";
import { createShareAccess } from "./sharing/share-access.ts";
import { createShareReading } from "./sharing/share-reading.ts";
import { type ChatParts, sharedType } from "./parts.ts";
import { chatRoutes } from "./routes/chats.ts";
import { configRoutes } from "./routes/config.ts";
import { eventRoutes } from "./routes/events.ts";
import { listRoutes } from "./routes/lists.ts";
import { messageRoutes } from "./routes/messages.ts";
import { adminRoutes, shareRoutes } from "./routes/shares.ts";
import { stateRoutes, tagRoutes } from "./routes/states.ts";
import type { ChatFolders, ContextMeter } from "./service.ts";
import { existingChats } from "./sharing/share-store.ts";
import { createShares } from "./sharing/shares.ts";
import { createStates, type States } from "./states.ts";
import type { ChatDatabase, Transact } from "./tables.ts";
import { createChatTools } from "./tools/chat-tools.ts";
import { deleteUnfinished } from "./slices.ts";
import { createTags } from "./tags/tags.ts";
import { createChatsService } from "./writer.ts";

interface Context {
  readonly config: {
    readonly adminChatAccess: boolean;
    readonly copyBytesPerMinute: number;
    readonly concurrentImports: number;
  };
  readonly db: ChatDatabase;
  readonly transaction: Transact;
  readonly use: {
    readonly access: Access;
    readonly accounts: Accounts;
    readonly configuration: ConfigRegistry;
    readonly events: Events;
    readonly files: Files;
    readonly grants: Grants;
    readonly hub: Hub;
    readonly folders: Slot<ChatFolders>;
    readonly contextMeter: Slot<ContextMeter>;
    readonly settings: Slot<readonly string[]>;
  };
}

/** Builds the services, routes and fills of the plugin. */
export function createChatsPlugin({ config, db, transaction, use }: Context) {
  const adminsRead = () => config.adminChatAccess;
  const parts: ChatParts = {
    ...use,
    db,
    transaction,
    limits: {
      importTurns: createFairQueue(() => 2),
      imports: createConcurrencyLimit({ limit: () => config.concurrentImports, what: "imports" }),
      copyBytes: createByteLimit({ limit: () => config.copyBytesPerMinute, what: "imports and clones" }),
    },
    adminsRead,
    adminsExport: () => use.configuration.valueOf("ENABLE_ADMIN_EXPORT") !== false,
    ...createLoaders({ db, access: use.access, folders: use.folders, adminsRead }),
  };
  const actions = createChatActions(parts);
  const reading = createShareReading(parts);
  const replies = createReplies(parts);
  const states = createStates(parts, use.hub);
  const removal = createRemoval(parts, use.hub);
  return {
    chats: createChatsService(parts, { actions, removal }),
    replies,
    context: createContext(db),
    // A copy takes minutes at most; what is older was left by a process that died.
    start: () => deleteUnfinished(db, seconds() - 3600),
    readMarks: readMarksOf(states),
    folderChats: createFolderChats(parts),
    explained: explainChats(parts),
    chatFiles: { list: (owner: Principal, chatId: string) => linkedFilesOf(db, owner.userId, chatId) },
    fileReferences: [toShareReference(db), toFolderReference(parts)],
    tools: createChatTools(parts),
    existing: (ids: readonly string[]) => existingChats(db, ids),
    routes: [
      ...configRoutes({ ...use, names: () => use.settings.list().flat() }),
      ...listRoutes(parts),
      ...chatRoutes({ parts, actions, reading, removal, copies: createCopies(parts) }),
      ...messageRoutes({ parts, messages: createMessageActions(parts), branches: createBranches(parts) }),
      ...eventRoutes(createMessageEvents(parts, { hub: use.hub, keeper: replies })),
      ...stateRoutes(parts, states),
      ...tagRoutes(parts, createTags(parts)),
      ...shareRoutes(parts, { reading, shares: createShares(parts), access: createShareAccess(parts) }),
      ...adminRoutes(parts),
    ],
  };
}

/** An open window says over its socket that the chat was read. */
function readMarksOf(states: States): ReadMarks {
  return {
    kind: "chat",
    async mark(caller, id) {
      await states.setRead(caller, id, true);
    },
  };
}

/**
 * Whoever may read a snapshot may read the files it shows, whatever became of the chat since. Only those of its owner
 * are noted with it (promise S17).
 */
function toShareReference(db: ChatDatabase): FileReferences {
  return {
    id: "chats",
    async isReachable(principal, fileId, action) {
      if (action !== "read") {
        return false;
      }
      const row = await db
        .selectFrom("shared_chat")
        .select("shared_chat.id")
        .where(sql<SqlBool>`shared_chat.file_ids @> ${[fileId]}::text[]`)
        .where((eb) => granted(eb, sharedType, "shared_chat.chat_id", principal, "read"))
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}
