-- How far each import has come: written in the transaction that adds its animals, so that a run after a crash
-- goes on exactly there.

create table imports (
  -- `sha256:` and the digest of the file, or `id:` and the name that was given to an input without a file.
  source text primary key,
  -- What it was called, for a person who looks here.
  label text not null,
  started_at timestamptz not null default now(),
  committed_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Where the next row begins.
  bytes bigint not null default 0,
  line bigint not null default 1,
  -- Rows read so far, and how many of them were refused; the others are in pets.
  rows bigint not null default 0,
  refused bigint not null default 0,
  -- How long the list of refused rows was then: a run that goes on cuts it back to this.
  refused_bytes bigint not null default 0,
  -- More than 1 after `--again`.
  times integer not null default 1
);
