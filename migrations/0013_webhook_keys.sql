-- The API key that created or last changed a webhook. Null if a version without this column did: `petstore doctor` then
-- lists the webhook if that may have been a key that could not do it now. No foreign key: its check would lock the row in
-- api_keys.

alter table webhooks add column api_key_id bigint;
