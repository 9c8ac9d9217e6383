-- Imports of files with pets.

create table imports (
  -- `sha256:` and the digest of the file, or `id:` and the name given to standard input.
  source text primary key,
  -- Name of the file, or "standard input". Only for operators to read.
  label text not null,
  started_at timestamptz not null default now(),
  committed_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Byte offset and line at which the next row starts.
  bytes bigint not null default 0,
  line bigint not null default 1,
  -- Number of rows read so far, and how many of them were rejected. The other rows are in pets.
  rows bigint not null default 0,
  rejected bigint not null default 0,
  -- Length of the list of rejected rows at this position. A run that resumes truncates the list to this length.
  rejected_bytes bigint not null default 0,
  -- How many times the import was started from the first row. Greater than 1 after `--again`.
  times integer not null default 1
);

comment on table imports is 'The position of each import. The transaction that adds pets also updates the position, so that the next run after a crash resumes exactly there';
