-- The incarnation of the primary that was trusted last (src/db/failover/incarnation.ts). With DATABASE_READ_URL, the service
-- writes it before it trusts a new primary. A standby that shows the same term follows that primary, so that their
-- positions in the WAL can be compared.

create table primary_term (
  is_only_row boolean primary key default true check (is_only_row),
  term text not null
);

insert into primary_term (term) values ('none');
