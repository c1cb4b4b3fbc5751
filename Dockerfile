# syntax=docker/dockerfile:1
# Build with: docker build -t tocsin .
# BASE may name any image with glibc, Python 3.11 or later as `python3` with its module venv, and useradd: another
# mirror, a pinned digest, a distribution's own.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /build
COPY requirements-build.lock requirements.lock ./
# An index, certificates and a proxy come from a configuration of pip that is there during this step only:
#   docker build --secret id=pip,src=$HOME/.config/pip/pip.conf --secret id=certificates,src=/path/to/ca.crt .
RUN --mount=type=secret,id=pip,target=/etc/pip.conf,required=false \
    --mount=type=secret,id=certificates,target=/etc/pip-certificates.crt,required=false \
    python3 -m venv /build/tools \
    && python3 -m venv --without-pip /opt/tocsin \
    && export PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_DEPS=1 PIP_ONLY_BINARY=:all: PIP_REQUIRE_HASHES=1 \
    && { [ ! -s /etc/pip-certificates.crt ] || export PIP_CERT=/etc/pip-certificates.crt; } \
    && /build/tools/bin/python -m pip install --quiet -r requirements-build.lock \
    && /build/tools/bin/python -m pip --python /opt/tocsin/bin/python install --quiet -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY config config
COPY migrations migrations
COPY service service
RUN /build/tools/bin/python -m hatchling build --target wheel --directory /build/wheel \
    && /build/tools/bin/python -m pip --python /opt/tocsin/bin/python install --quiet --no-cache-dir --no-index --no-deps \
        --disable-pip-version-check /build/wheel/*.whl

FROM ${BASE}
ARG VERSION=
ARG REVISION=
LABEL org.opencontainers.image.title="Tocsin" \
      org.opencontainers.image.description="Watches very large sets of web pages for the changes that their authors declare" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# A fixed number, so that the owner of a volume or a bind mount can be set beforehand.
RUN groupadd --gid 10330 tocsin \
    && useradd --uid 10330 --gid tocsin --no-create-home --home-dir /var/lib/tocsin --shell /usr/sbin/nologin tocsin \
    && install -d -o tocsin -g tocsin -m 0750 /var/lib/tocsin
COPY --from=build /opt/tocsin /opt/tocsin
# The file system is read-only when it runs: bytecode is written here, or each start would compile for half a second.
# MALLOC_TRIM_THRESHOLD_: glibc keeps 64 MiB instead of giving memory back after every page; parsing is twice as fast.
# FIRST_TOKEN: a start of a store without any token makes one for an administrator, and prints it once;
# that the name of this switch holds the word is all that the linter sees.
# hadolint ignore=DL3064
ENV PATH=/opt/tocsin/bin:$PATH \
    MALLOC_TRIM_THRESHOLD_=67108864 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TOCSIN_HTTP__FIRST_TOKEN=true \
    TOCSIN_HTTP__LISTEN=0.0.0.0:8330 \
    TOCSIN_STORE__URL=sqlite:/var/lib/tocsin/tocsin.db
USER 10330:10330
WORKDIR /var/lib/tocsin
VOLUME /var/lib/tocsin
EXPOSE 8330
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["tocsin", "healthcheck"]
# As process 1 it takes SIGTERM, and waits for its fetchers, which are all of its children.
ENTRYPOINT ["tocsin"]
CMD ["run"]
