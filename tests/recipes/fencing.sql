-- PostgreSQL refuses a late writer: one who was paused, as a virtual machine can be, until somebody else had the lock.
-- Run this once. Every transaction of a holder then begins with
--
--   SELECT rlock_fence('balance', :fence);    -- psql -v fence="$RLOCK_FENCE"
--
-- It fails when a newer holder of the key has been here. Until the transaction ends a newer holder has to wait: so a
-- session that sleeps in it, since its client is paused, is ended after `patience`. When the counter in Redis is lost
-- (FLUSHALL), every holder is refused: then DELETE FROM rlock_fences, while nobody holds the lock.
--
-- A run with --fenced inside another one of the same key gets a larger number. When it has written, the outer run is
-- refused. So let only one of the two write, or let the inner one write with the number of the outer one.
CREATE TABLE rlock_fences (key text PRIMARY KEY, fence bigint NOT NULL);

CREATE FUNCTION rlock_fence(of_key text, of_holder bigint, patience interval DEFAULT '10s') RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('idle_in_transaction_session_timeout',
                     (extract(epoch FROM patience) * 1000)::bigint::text, true);
  INSERT INTO rlock_fences AS known VALUES (of_key, of_holder)
    ON CONFLICT (key) DO UPDATE SET fence = excluded.fence WHERE known.fence <= excluded.fence;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'fence % of % is late: a newer holder has written', of_holder, of_key;
  END IF;
END $$;
