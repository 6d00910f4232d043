import { t } from "#plugins/web/kit/i18n/index.svelte.ts";

/** Section → key → what the permission allows, in words. */
export type Words = Readonly<
  Record<string, { readonly title: string; readonly keys: Readonly<Record<string, string>> }>
>;

/** The permissions of the platform in words. */
export function permissionWords(): Words {
  return { ...makingWords(), ...usingWords() };
}

function makingWords(): Words {
  return {
    workspace: {
      title: t("Workspace"),
      keys: {
        models: t("Make and change models"),
        knowledge: t("Make and change knowledge"),
        prompts: t("Make and change prompts"),
        tools: t("Make and change tools"),
        skills: t("Make and change skills"),
        functions: t("Write functions"),
        models_import: t("Import models"),
        models_export: t("Export models"),
        prompts_import: t("Import prompts"),
        prompts_export: t("Export prompts"),
        tools_import: t("Import tools"),
        tools_export: t("Export tools"),
        skills_import: t("Import skills"),
        skills_export: t("Export skills"),
        models_hidden: t("Hide models"),
      },
    },
    sharing: {
      title: t("Sharing"),
      keys: {
        models: t("Share models"),
        public_models: t("Share models with everybody"),
        knowledge: t("Share knowledge"),
        public_knowledge: t("Share knowledge with everybody"),
        prompts: t("Share prompts"),
        public_prompts: t("Share prompts with everybody"),
        tools: t("Share tools"),
        public_tools: t("Share tools with everybody"),
        skills: t("Share skills"),
        public_skills: t("Share skills with everybody"),
        notes: t("Share notes"),
        public_notes: t("Share notes with everybody"),
        folders: t("Share folders"),
        public_chats: t("Share chats with everybody here"),
        open_chats: t("Share chats without sign-in"),
        public_calendars: t("Share calendars with everybody"),
        public_channels: t("Share channels with everybody"),
      },
    },
    access_grants: {
      title: t("Whom to share with"),
      keys: {
        allow_users: t("Share with single people"),
        allow_groups: t("Share with groups"),
      },
    },
  };
}

function usingWords(): Words {
  return {
    chat: {
      title: t("Chats"),
      keys: {
        controls: t("Open the controls"),
        valves: t("Set valves"),
        system_prompt: t("Write a system prompt"),
        params: t("Change parameters"),
        file_upload: t("Upload files"),
        web_upload: t("Attach web pages"),
        delete: t("Delete chats"),
        delete_message: t("Delete messages"),
        continue_response: t("Continue replies"),
        regenerate_response: t("Regenerate replies"),
        rate_response: t("Rate replies"),
        edit: t("Edit messages"),
        share: t("Share chats"),
        export: t("Export chats"),
        import: t("Import chats"),
        stt: t("Dictate"),
        tts: t("Have replies read aloud"),
        call: t("Call"),
        multiple_models: t("Ask several models at once"),
        temporary: t("Hold temporary chats"),
        temporary_enforced: t("Temporary chats only"),
      },
    },
    features: {
      title: t("Features"),
      keys: {
        notes: t("Notes"),
        folders: t("Folders"),
        channels: t("Channels"),
        web_search: t("Web search"),
        image_generation: t("Image generation"),
        code_interpreter: t("Code interpreter"),
        memories: t("Memories"),
        calendar: t("Calendar"),
        api_keys: t("API keys"),
        direct_tool_servers: t("Own tool servers"),
        automations: t("Automations"),
        webhooks: t("Webhooks"),
        encrypted_channels: t("Encrypted channels"),
      },
    },
    settings: {
      title: t("Settings"),
      keys: {
        interface: t("Change the interface"),
      },
    },
  };
}
