// Every record of the configuration document. A field is text unless it says otherwise: `:time` is an integer of
// seconds or nanoseconds, `:json`, `:bool`, `:int`. A record whose fields are not shown has none here.
const lines = `
access_grant, core: id:int resource_type resource_id principal_type principal_id permission created_at:time
api_key, accounts: id user_id key data:json expires_at:time last_used_at:time created_at:time updated_at:time
auth, accounts: id email password active:bool
channel, channels: id user_id type name description is_private:bool data:json meta:json created_at:time updated_at:time updated_by archived_at:time archived_by deleted_at:time deleted_by
channel_member, channels: id channel_id user_id role status is_active:bool is_channel_muted:bool is_channel_pinned:bool data:json meta:json invited_at:time invited_by joined_at:time left_at:time last_read_at:time created_at:time updated_at:time
channel_webhook, channels: id channel_id user_id name profile_image_url token last_used_at:time created_at:time updated_at:time
channel_file, channels: id user_id channel_id file_id message_id created_at:time updated_at:time
chat, chats: id user_id title chat:json created_at:time updated_at:time share_id archived:bool pinned:bool meta:json folder_id tasks:json summary last_read_at:time current_message_id variables:json
shared_chat, chats: id chat_id user_id title chat:json created_at:time updated_at:time
chat_message, chats: id chat_id user_id role parent_id content:json output:json model_id files:json sources:json embeds:json meta:json done:bool status_history:json error:json usage:json context_summary created_at:time updated_at:time
automation, automations: id user_id folder_id name data:json meta:json is_active:bool last_run_at:time next_run_at:time created_at:time updated_at:time
automation_run, automations: id automation_id chat_id status error created_at:time
calendar, calendar: id user_id name color is_default:bool data:json meta:json created_at:time updated_at:time
calendar_event, calendar: id calendar_id user_id title description start_at:time end_at:time all_day:bool rrule color location data:json meta:json is_cancelled:bool created_at:time updated_at:time
calendar_event_attendee, calendar: id event_id user_id status meta:json created_at:time updated_at:time
chat_file, chats: id user_id chat_id file_id message_id created_at:time updated_at:time
config, core: key value:json updated_at:time
feedback, feedback: id user_id version:int type data:json meta:json snapshot:json created_at:time updated_at:time
file, files: id user_id hash filename path data:json meta:json created_at:time updated_at:time
folder, folders: id user_id parent_id name items:json data:json meta:json is_expanded:bool created_at:time updated_at:time
function, functions: id user_id name type content meta:json valves:json
group, core: id user_id name description data:json meta:json permissions:json created_at:time updated_at:time
group_member, core: group_id user_id created_at:time
knowledge, knowledge:
knowledge_file, knowledge:
knowledge_directory, knowledge:
memory, memories: id user_id type path content meta:json created_at:time updated_at:time
message, channels: id user_id channel_id reply_to_id parent_id is_pinned:bool pinned_by pinned_at:time content data:json meta:json created_at:time updated_at:time
message_reaction, channels:
model, models:
note, notes:
pinned_note, notes:
oauth_session, mcp:
prompt, prompts: id command user_id name content data:json meta:json tags:json is_active:bool version_id created_at:time updated_at:time
prompt_history, prompts: id prompt_id parent_id snapshot:json user_id commit_message created_at:time
skill, skills: id user_id name description content meta:json is_active:bool created_at:time updated_at:time
tag, chats: id user_id name meta:json
tool, workspace-tools:
user, core:
`;

export type FieldType = "text" | "time" | "json" | "bool" | "int";

export interface ExpectedRecord {
  readonly name: string;
  /** The plugin whose table it is (or core), or "not yet". */
  readonly owner: string;
  readonly fields: Readonly<Record<string, FieldType>>;
}

export const specifiedRecords: readonly ExpectedRecord[] = lines
  .trim()
  .split("\n")
  .map((line) => {
    const [, name = "", owner = "", fields = ""] = /^(\w+), ([\w -]+):(.*)$/.exec(line) ?? [];
    const pairs = fields.split(" ").filter((field) => field !== "");
    const types = pairs.map((field) => field.split(":", 2) as [string, FieldType?]);
    return { name, owner, fields: Object.fromEntries(types.map(([field, type]) => [field, type ?? "text"])) };
  });

/** Records that no code writes any more, by the names that databases of the ecosystem have for them. */
export const legacyRecords = ["chatidtag", "document"];
