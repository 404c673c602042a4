# What images of task templates have in common, to begin yours from: docker build -f deploy/image/task.Dockerfile
# -t REGISTRY/cubeloom-task:0.1.0 task-templates. The Dockerfile of each template, in its folder, adds what it needs.
#
# Pods find a template's program at /opt/cubeloom/task-templates/<name>, and the program `cubeloom` at
# /usr/local/bin/cubeloom. They run as uid 10000, or whatever uid a cluster was given, with a root file system that cannot be
# written to: nothing in an image may count on another one, or on writing outside of /tmp and the folders that it is told.
ARG CUBELOOM_IMAGE
FROM ${CUBELOOM_IMAGE} AS cubeloom

FROM debian:12.12-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates python3 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=cubeloom /usr/local/bin/cubeloom /usr/local/bin/cubeloom
COPY --from=cubeloom /opt/cubeloom/task-templates /opt/cubeloom/task-templates
USER 10000:10000
