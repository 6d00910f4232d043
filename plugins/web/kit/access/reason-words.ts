import { t } from "../i18n/index.svelte.ts";

/** One rule of an explanation, in the language of now; rules of later versions stay in the server's words. */
export function reasonText(reason: {
  readonly rule: string;
  readonly name: string | null;
  readonly text: string;
}): string {
  const words: Readonly<Record<string, string>> = {
    owner: t("It is their own."),
    user_grant: t("It is shared with this person."),
    group_grant: t("It is shared with the group {name}, of which this person is a member.", {
      name: reason.name ?? "",
    }),
    everybody_grant: t("It is shared with everybody who has an account."),
    anyone_grant: t("It is shared with anyone who has the link."),
    administrator: t("This person is an administrator."),
    open_to_all: t("Access to models is not checked on this installation (BYPASS_MODEL_ACCESS_CONTROL)."),
    connection: t("Its connection offers models to everybody."),
    connection_group: t("Its connection offers models to a group of which this person is a member."),
    folder: t("It lies in a folder that this person can see."),
  };
  return words[reason.rule] ?? reason.text;
}
