import { gauges } from "#kernel/gauges.ts";
import { definePlugin } from "#kernel/plugin.ts";
import { fill, provide } from "#kernel/service.ts";
import { configuration, deployment, healthChecks, largeNotices } from "#kernel/services.ts";
import { hub } from "#kernel/sockets/hub.ts";
import { socketServer } from "#kernel/sockets/server.ts";
import { userEvents } from "#plugins/functions/service.ts";
import { realtimeVariables } from "./config.ts";
import { createMembers } from "./connections/members.ts";
import { openSockets } from "./connections/open.ts";
import { OutgoingEvent, toPayload } from "./connections/outgoing.ts";
import { createRoomRenewal } from "./connections/room-renewal.ts";
import { createChannels } from "./hub/channels.ts";
import { createHttpClients } from "./http/clients.ts";
import { httpEventRoutes } from "./http/routes.ts";
import { createHub } from "./hub/hub.ts";
import { openReplicas } from "./replicas/open-bus.ts";
import { realtimeRoutes } from "./routes.ts";
import { channelEvents, guardedRooms, readMarks, userRooms } from "./service.ts";
import { createSocketHandlers } from "./sockets.ts";
import { createUsage } from "./usage.ts";
import { createUserEvents } from "./user-events.ts";

export default definePlugin({
  id: "realtime",
  title: "Realtime",
  summary: "Sockets: what happens reaches every open window at once.",
  config: realtimeVariables,
  uses: {
    configuration,
    deployment,
    largeNotices,
    rooms: userRooms,
    guards: guardedRooms,
    channelEvents,
    marks: readMarks,
  },
  provides: [hub, socketServer],
  async setup({ config, use, log }) {
    const { instanceId } = use.deployment;
    const { replicas, ping } = await openReplicas({ ...use, config, log });
    const members = createMembers();
    const channels = createChannels({ members, replicas });
    const callTimeout = () => config.socketCallTimeout;
    const rooms = createRoomRenewal({ members, rooms: use.rooms, guards: use.guards });
    const clients = createHub({ members, replicas, channels, rooms, instanceId, callTimeout });
    const httpClients = createHttpClients(clients);
    const usage = createUsage(clients);
    const questions = createUserEvents(clients);
    // The setting belongs to a plugin that may be left out; nobody hides the count then.
    const isPublic = () => use.configuration.valueOr(publicCount, true) === true;
    // Pages show at once what was switched on or off; each replica is told of the change by itself.
    use.configuration.onChange(() => {
      const changed = new OutgoingEvent(
        "events",
        toPayload({ data: { type: "config:changed" } }, instanceId),
      );
      for (const session of members.all()) {
        if (session.principal !== undefined) {
          session.deliver(changed);
        }
      }
    });
    return {
      routes: { main: realtimeRoutes({ usage, isPublic }), api: httpEventRoutes(httpClients) },
      sockets: createSocketHandlers({
        hub: clients,
        usage,
        questions,
        rooms,
        channels: use.channelEvents,
        marks: use.marks,
      }),
      services: [
        provide(hub, clients),
        provide(socketServer, {
          open: (parts) =>
            openSockets({ ...parts, config, log, instanceId, members, channels, rooms, httpClients }),
        }),
      ],
      fills: [
        fill(userEvents, questions),
        fill(healthChecks, { part: "Redis", check: ping }),
        fill(gauges, {
          name: "sockets",
          help: "Open connections of clients.",
          read: () => Array.from(members.all()).length,
        }),
      ],
      stop: () => replicas.close(),
    };
  },
});

const publicCount = "ENABLE_PUBLIC_ACTIVE_USERS_COUNT";
