-- Number of calls of deprecated operations: one row per API key, operation and day.

create table deprecated_calls (
  api_key_id bigint not null,
  operation text not null,
  day date not null,
  calls bigint not null check (calls > 0),
  primary key (api_key_id, operation, day)
);
