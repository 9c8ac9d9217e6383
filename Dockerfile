# The service and its commands, for production: `docker build -t petstore .`, then docs/deploying.md.
# Node 24.12 or newer runs the sources as they are, so nothing is compiled.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY client/package.json client/
RUN npm ci --omit=dev --ignore-scripts && rm package-lock.json .npmrc
COPY LICENSE ./
COPY bin bin
COPY src src
COPY client/src client/src
COPY migrations migrations
COPY deploy/roles.sql deploy/passwords.sql deploy/
# Whatever umask the files were checked out with: everybody may read them, and only root may write.
RUN chmod -R u=rwX,go=rX /app

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Petstore" org.opencontainers.image.licenses="Apache-2.0"
# What installs packages has no business in production.
RUN rm -rf /opt/yarn* /usr/local/lib/node_modules /usr/local/bin/corepack /usr/local/bin/np[mx] /usr/local/bin/yarn* \
  && ln -s /app/bin/petstore.ts /usr/local/bin/petstore
WORKDIR /app
COPY --from=build /app /app
# Inside a container these are the addresses of the container; only ports that are published are reached from outside.
ENV NODE_ENV=production HOST=0.0.0.0 ADMIN_HOST=0.0.0.0
EXPOSE 3000
# A number, so that an orchestrator can tell that it is not root. It owns no file, and needs to write none.
USER 10001:10001
# Its first line starts Node with the flags that it needs, in its own place: signals reach it.
ENTRYPOINT ["petstore"]
CMD ["serve"]
HEALTHCHECK --interval=5s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.ADMIN_PORT || 9090}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
