import { definePlugin } from "#kernel/plugin.ts";
import { fill } from "#kernel/service.ts";
import { configuration, hub } from "#kernel/services.ts";
import { userEvents } from "#plugins/functions/service.ts";
import { realtimeRoutes } from "./routes.ts";
import { readMarks, userRooms } from "./service.ts";
import { createSocketHandlers } from "./sockets.ts";
import { createUsage } from "./usage.ts";
import { createUserEvents } from "./user-events.ts";

export default definePlugin({
  id: "realtime",
  title: "Realtime",
  uses: { configuration, hub, rooms: userRooms, marks: readMarks },
  setup({ use }) {
    const usage = createUsage(use.hub);
    // The setting belongs to a plugin that may be left out; nobody hides the count then.
    const isPublic = () => {
      const known = use.configuration.declarations().some(({ variable }) => variable.name === publicCount);
      return !known || use.configuration.valueOf(publicCount) === true;
    };
    return {
      routes: { main: realtimeRoutes({ usage, isPublic }) },
      sockets: createSocketHandlers({ hub: use.hub, usage, rooms: use.rooms, marks: use.marks }),
      fills: [fill(userEvents, createUserEvents(use.hub))],
    };
  },
});

const publicCount = "ENABLE_PUBLIC_ACTIVE_USERS_COUNT";
