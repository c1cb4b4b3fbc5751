# Build with: docker build -t tocsin .
# BASE may name any image with glibc and Python 3.11 or later under /usr/local (another mirror, a pinned digest).
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /build
COPY requirements-build.lock requirements.lock ./
# pip and uv take an index, certificates and a proxy as their own variables say; none is kept in the image.
RUN python -m venv /build/tools \
    && /build/tools/bin/python -m pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes \
        -r requirements-build.lock \
    && python -m venv --without-pip /opt/tocsin \
    && /build/tools/bin/uv pip sync --no-cache --compile-bytecode --python /opt/tocsin/bin/python \
        --require-hashes requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY config config
COPY migrations migrations
COPY service service
RUN /build/tools/bin/python -m hatchling build --target wheel --directory /build/wheel \
    && /build/tools/bin/uv pip install --no-cache --offline --no-deps --compile-bytecode \
        --python /opt/tocsin/bin/python /build/wheel/*.whl

FROM ${BASE}
LABEL org.opencontainers.image.title="Tocsin" \
      org.opencontainers.image.description="Watches very large sets of web pages for the changes that their authors declare" \
      org.opencontainers.image.licenses="MIT"
# A fixed number, so that the owner of a volume or a bind mount can be set beforehand.
RUN groupadd --gid 10330 tocsin \
    && useradd --uid 10330 --gid tocsin --no-create-home --home-dir /var/lib/tocsin --shell /usr/sbin/nologin tocsin \
    && install -d -o tocsin -g tocsin -m 0750 /var/lib/tocsin
COPY --from=build /opt/tocsin /opt/tocsin
# MALLOC_TRIM_THRESHOLD_: glibc keeps 64 MiB instead of giving memory back after every page; parsing is twice as fast.
ENV PATH=/opt/tocsin/bin:$PATH \
    MALLOC_TRIM_THRESHOLD_=67108864 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TOCSIN_STORE__URL=sqlite:/var/lib/tocsin/tocsin.db
USER 10330:10330
WORKDIR /var/lib/tocsin
VOLUME /var/lib/tocsin
# No EXPOSE and no HEALTHCHECK: this version has no HTTP edge to ask. `tocsin doctor` looks from within.
STOPSIGNAL SIGTERM
ENTRYPOINT ["tocsin"]
CMD ["run"]
