# Production image of the service and its commands. Build it with `docker build -t petstore .`; see docs/production.md.
# Node 24.12 or newer runs TypeScript directly, so only the console has a build step.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
COPY console/package.json console/
RUN npm ci --ignore-scripts
COPY client/LICENSE client/README.md client/tsconfig.json client/
COPY client/src client/src
COPY dev/package-files.ts dev/
COPY console/index.html console/vite.config.ts console/
COPY console/src console/src
RUN npm run build && npm prune --omit=dev --ignore-scripts && rm -r package-lock.json .npmrc console/src dev client/LICENSE client/README.md client/tsconfig.json
COPY LICENSE ./
COPY bin bin
COPY src src
COPY migrations migrations
COPY deploy/roles.sql deploy/passwords.sql deploy/
# Set permissions independently of the umask of the checkout: all users can read, only root can write.
RUN chmod -R u=rwX,go=rX /app

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Petstore" org.opencontainers.image.licenses="Apache-2.0"
# Remove the package managers.
RUN rm -rf /opt/yarn* /usr/local/lib/node_modules /usr/local/bin/corepack /usr/local/bin/np[mx] /usr/local/bin/yarn* \
  && ln -s /app/bin/petstore.ts /usr/local/bin/petstore
WORKDIR /app
COPY --from=build /app /app
# Listen on all addresses of the container. Only published ports are reachable from outside.
ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_HOST=0.0.0.0
EXPOSE 3000
# A numeric id lets an orchestrator verify that the user is not root. The user owns no files and writes none.
USER 10001:10001
# `env` in the shebang of the executable replaces itself with Node, so Node receives signals directly.
ENTRYPOINT ["petstore"]
CMD ["serve"]
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 9090}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
