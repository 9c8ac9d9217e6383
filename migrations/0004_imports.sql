-- The position of each import. It is written in the transaction that adds the pets, so that a run after a crash resumes
-- exactly there.

create table imports (
  -- `sha256:` and the digest of the file, or `id:` and the name given to standard input.
  source text primary key,
  -- Name of the file, or "standard input". For operators.
  label text not null,
  started_at timestamptz not null default now(),
  committed_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Where the next row starts.
  bytes bigint not null default 0,
  line bigint not null default 1,
  -- Rows read so far, and how many of them were rejected. The others are in pets.
  rows bigint not null default 0,
  refused bigint not null default 0,
  -- Length of the list of rejected rows at this position. A run that resumes truncates the list to this length.
  refused_bytes bigint not null default 0,
  -- Greater than 1 after `--again`.
  times integer not null default 1
);
