import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";

/** The address of the own picture; sent back as it is, it leaves the picture alone. */
const pictureAddress = (): string => `/api/v1/users/${session.current?.id ?? ""}/profile/image`;

/** Stores name and picture; a picture that is left out stays. "" takes the picture away. */
export async function saveProfile({ name, picture }: { name: string; picture?: string }): Promise<void> {
  const body = { name, profile_image_url: picture ?? pictureAddress() };
  const stored = await server.call("POST /api/v1/auths/update/profile", { body });
  session.adopt({
    name: stored.name,
    // The address stays the same, so images that are shown already would keep the old picture.
    ...(picture === undefined ? {} : { profile_image_url: `${pictureAddress()}?v=${Date.now()}` }),
  });
}
