import { chatClient, conversation } from "#plugins/chats/chats.fixture.ts";
import { permit } from "#plugins/workspace-tools/tools.fixture.ts";
import { actorEnvironment } from "#test/support/actors.ts";
import type { App } from "#test/support/app.ts";
import { ownedRows } from "#test/support/owned-rows.ts";

/** Switches on what has rows. */
export const filledEnvironment = {
  ...actorEnvironment,
  ENABLE_APPS: "true",
  ENABLE_CHANNELS: "true",
  WEBUI_SECRET_KEY: "the-same-before-and-after-a-restore",
};

/** Makes rows of every plugin that accounts own rows of; resolves to a chat that is found by the word "kingfisher". */
export async function fill(app: App): Promise<string> {
  for (const rows of Object.values(ownedRows)) {
    const owner = await app.user();
    if (rows.permissions) {
      await permit(app, [owner, await app.admin()], rows.permissions);
    }
    await rows.make(app, owner.token);
  }
  const { token } = await app.admin();
  const chat = await chatClient(app, token).make({
    ...conversation(),
    title: "A kingfisher, 翡翠 and \\x00",
  });
  return chat.id;
}
