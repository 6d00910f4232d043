import { bool, int } from "#config/variable.ts";

export const chatVariables = {
  adminChatAccess: bool("ENABLE_ADMIN_CHAT_ACCESS", true, {
    text: "Lets administrators read everybody's chats; nobody but the owner ever writes them.",
  }),
  copyBytesPerMinute: int("LIMIT_COPY_BYTES_PER_MINUTE", 100 * 1024 * 1024, {
    min: 0,
    text: "Bytes of chats that an account imports and clones within a minute, on each replica; 0 is unlimited",
  }),
  concurrentImports: int("LIMIT_CONCURRENT_IMPORTS", 2, {
    min: 0,
    text: "Imports of chats that an account has under way at once, on each replica; 0 is unlimited",
  }),
};
