import { bool } from "#config/variable.ts";

export const chatVariables = {
  adminChatAccess: bool("ENABLE_ADMIN_CHAT_ACCESS", true, {
    text: "Lets administrators read everybody's chats; nobody but the owner ever writes them.",
  }),
};
