-- Checks that the newest backup can be restored, and what timers of the operator report.

create table restore_checks (
  id bigint primary key generated always as identity,
  checked_at timestamptz not null default now(),
  -- The number of the repository of pgBackRest. One server has two, each with its own result.
  repository smallint not null default 1,
  -- The label of the backup; null if none was found.
  backup text check (char_length(backup) <= 100),
  -- The time of the newest change in the restored database; null if nothing was restored.
  recovered_to timestamptz,
  -- Whether the backup was restored and `petstore verify` found no fault.
  is_proven boolean not null,
  -- From the start of the restore to the end of the verification.
  duration_ms bigint not null,
  message text not null check (char_length(message) <= 1000)
);

comment on table restore_checks is 'Results of the regular check that the newest backup can be restored. `deploy/backup/check-restore` adds one row per run and repository, and the service exposes the time of the newest success as a metric. The service keeps the newest 1,000 rows';

create table health_reports (
  name text primary key check (name in ('backup', 'secondPlace', 'disk', 'certificate')),
  -- When the backup was made, or when the certificate expires.
  at timestamptz,
  used_bytes bigint,
  total_bytes bigint,
  -- Where the backup is, which disk or whose certificate it is.
  note text check (char_length(note) <= 200),
  reported_at timestamptz not null default now(),
  check ((used_bytes is not null and total_bytes > 0) = (name = 'disk')),
  check ((at is null) = (name = 'disk'))
);

comment on table health_reports is 'What the service cannot see by itself: `petstore report`, which timers of the operator run, replaces the row with its name. The page "Health" of the console shows it';
