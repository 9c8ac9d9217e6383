-- Computes the counts of pets again, if `petstore verify` reports that they differ from the pets. Writes to pets wait
-- meanwhile. Run this file as petstore_migrator:
--
--   psql "$MIGRATION_DATABASE_URL" -v ON_ERROR_STOP=1 -f deploy/rebuild-counts.sql

begin;
set local lock_timeout = '10s';
-- The service must neither change pets nor fold deltas.
lock table pets, pet_count_deltas, pet_counts, pet_counts_by_category in exclusive mode;

delete from pet_count_deltas;
delete from pet_counts_by_category;
insert into pet_counts_by_category (category_id, status, count)
select category_id, status, count(*) from pets group by category_id, status;
delete from pet_counts;
insert into pet_counts (status, count)
select status, (select count(*) from pets where pets.status = known.status)
from unnest(enum_range(null::pet_status)) as known (status);
commit;
