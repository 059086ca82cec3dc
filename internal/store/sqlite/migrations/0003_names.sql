-- Fields that earlier programs named otherwise, and what they kept otherwise. It may go with the
-- first release: no release ever wrote them.
UPDATE documents SET data = json_remove(json_set(data, '$.startedAt', json(data -> '$.lookedAt')), '$.lookedAt')
    WHERE path LIKE 'calendars/%' AND data -> '$.lookedAt' IS NOT NULL;
UPDATE documents SET data = json_remove(json_set(data, '$.pausedUntil', json(data -> '$.parkedUntil')), '$.parkedUntil')
    WHERE path LIKE 'calendars/%' AND data -> '$.parkedUntil' IS NOT NULL;
UPDATE documents SET data = json_remove(json_set(data, '$.deferredEvents', json(data -> '$.pendingLooks')), '$.pendingLooks')
    WHERE path LIKE 'calendars/%' AND data -> '$.pendingLooks' IS NOT NULL;
UPDATE documents SET data = json_remove(json_set(data, '$.holdUnannounced', json(data -> '$.holdUntold')), '$.holdUntold')
    WHERE path LIKE 'calendars/%' AND data -> '$.holdUntold' IS NOT NULL;
-- A push that only an earlier program's queue knew may be lost: each calendar is synced once.
UPDATE documents SET data = json_remove(json_set(data, '$.syncAsked', json('true'), '$.syncAt', json(data -> '$.linkedAt')), '$.lookGen', '$.begunGen', '$.lookDue')
    WHERE path LIKE 'calendars/%' AND data -> '$.lookGen' IS NOT NULL AND data -> '$.linkedAt' IS NOT NULL;
UPDATE documents SET data = json_remove(json_set(data, '$.syncAsked', json('true'),
        '$.linkedAt', json_object('$time', strftime('%Y-%m-%dT%H:%M:%SZ', (data ->> '$.lookGen') / 1000000, 'unixepoch')),
        '$.syncAt', json_object('$time', strftime('%Y-%m-%dT%H:%M:%SZ', (data ->> '$.lookGen') / 1000000, 'unixepoch'))), '$.lookGen', '$.begunGen', '$.lookDue')
    WHERE path LIKE 'calendars/%' AND data -> '$.lookGen' IS NOT NULL;
UPDATE documents SET data = json_remove(json_set(data, '$.delivering', json(data -> '$.telling')), '$.telling')
    WHERE path LIKE 'announcements/%' AND data -> '$.telling' IS NOT NULL;
UPDATE documents SET data = json_remove(json_set(data, '$.pending', json(data -> '$.owed')), '$.owed')
    WHERE path LIKE 'announcements/%' AND data -> '$.owed' IS NOT NULL;
UPDATE documents SET data = json_remove(json_set(data, '$.cardPending', json(data -> '$.cardOwed')), '$.cardOwed')
    WHERE path LIKE 'announcements/%' AND data -> '$.cardOwed' IS NOT NULL;
-- When a change of an account is due was a mark before it was a time.
UPDATE documents SET data = json_set(data, '$.due', json(iif(data ->> '$.due' = 1, data -> '$.updatedAt', 'null')))
    WHERE path LIKE 'accounts/%' AND instr(path, '/') = 9 AND json_type(data, '$.due') IN ('true', 'false');
-- The indexes are built from the documents when the file is opened.
DELETE FROM entries;
DELETE FROM document_indexes;
