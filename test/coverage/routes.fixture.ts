// Every route of the first two documents, by the plugin that offers it; in brackets for whom the document says it is.
const lines = `
settings: GET /api/version (public), GET /health (public)
models: GET /api/models, GET /api/v1/models/model
models: GET /api/v1/models/all (admin), GET /api/v1/models/export (admin), POST /api/v1/models/sync (admin)
models: POST /api/v1/models/import (permission:workspace.models_import)
models: POST /api/v1/models/create, POST /api/v1/models/model/update, POST /api/v1/models/model/delete
completions: POST /api/chat/completions, POST /api/chat/completed
files: POST /api/v1/files/, GET /api/v1/files/{id}/process/status
accounts: POST /api/v1/users/user/settings/update
accounts: GET /api/v1/users/user/status, POST /api/v1/users/user/status/update
accounts: POST /api/v1/auths/signup (public), POST /api/v1/auths/signin (public)
accounts: POST /api/v1/auths/api_key, GET /api/v1/auths/api_key, DELETE /api/v1/auths/api_key
docs: GET /docs (public), GET /api/v1/docs (public), GET /runtime/docs (public), GET /compat/docs (public)
docs: GET /images/api/v1/docs (public), GET /audio/api/v1/docs (public), GET /retrieval/api/v1/docs (public)
ldap: POST /api/v1/auths/ldap (public)
runs: GET /api/tasks/chat/{chat_id}
messages: POST /api/message, POST /api/v1/messages
messages: POST /api/message/count_tokens, POST /api/v1/messages/count_tokens
provider-runtime: POST /runtime/api/generate, GET /runtime/api/tags, POST /runtime/api/embed
provider-runtime: POST /runtime/v1/embeddings, POST /runtime/v1/embeddings/{url_idx}
provider-runtime: POST /runtime/v1/responses
knowledge: POST /api/v1/knowledge/{id}/file/add, GET /api/v1/knowledge/{id}
chats: POST /api/v1/chats/new, POST /api/v1/chats/{chat_id}, GET /api/v1/chats/{chat_id}, DELETE /api/v1/chats/{chat_id}
notes: GET /api/v1/notes/
terminals: GET /api/v1/terminals/
tools: GET /api/v1/tools/, GET /api/v1/tools/id/{id}/specs
channels: POST /api/v1/channels/webhooks/{webhook_id}/{token} (public), POST /api/v1/channels/{id}/members/active
scim: POST /api/v1/scim/v2/Users, GET /api/v1/scim/v2/Users, GET /api/v1/scim/v2/Users/{id}
scim: PUT /api/v1/scim/v2/Users/{id}, PATCH /api/v1/scim/v2/Users/{id}, DELETE /api/v1/scim/v2/Users/{id}
scim: POST /api/v1/scim/v2/Groups, GET /api/v1/scim/v2/Groups, GET /api/v1/scim/v2/Groups/{id}
scim: PUT /api/v1/scim/v2/Groups/{id}, PATCH /api/v1/scim/v2/Groups/{id}, DELETE /api/v1/scim/v2/Groups/{id}
gateway: GET {gateway}/v1/models, POST {gateway}/v1/chat/completions
`;

export interface ExpectedRoute {
  /** `METHOD /path`, with `{name}` for a parameter. */
  readonly name: string;
  /** The plugin that offers it, or "not yet". */
  readonly owner: string;
  /** Who may call it, where the document says so; everything else needs a credential. */
  readonly access: string | undefined;
}

export const specifiedRoutes: readonly ExpectedRoute[] = lines
  .trim()
  .split("\n")
  .flatMap((line) => {
    const [owner = "", names = ""] = line.split(": ", 2);
    return names.split(", ").map((entry) => {
      const [, name = "", access] = /^(.*?)(?: \(([\w:.]+)\))?$/.exec(entry) ?? [];
      return { owner, name, access };
    });
  });

/** Routes that the specification says are gone. */
export const removedRoutes = ["POST /api/v1/utils/pdf"];
