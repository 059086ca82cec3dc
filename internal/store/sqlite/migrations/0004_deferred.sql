-- Events that calendars have deferred: those of polls were kept apart, with a reason and no time, and
-- those of other consumers with a time and no reason. It may go with the first release.
UPDATE documents SET data = json_set(data, '$.deferred', (
        SELECT json_group_object(consumer.key, json((
            SELECT json_group_object(event.key, json_object('at', json(event.value), 'why', 'apply_failed')) FROM json_each(consumer.value) AS event)))
        FROM json_each(data, '$.deferred') AS consumer))
    WHERE path LIKE 'calendars/%' AND json_type(data, '$.deferred') = 'object';
UPDATE documents SET data = json_remove(json_set(data, '$.deferred', json_patch(
        iif(json_type(data, '$.deferred') = 'object', data -> '$.deferred', '{}'),
        json_object('poll', json((
            SELECT json_group_object(event.key, json_object('why', event.value, 'at', json(coalesce(
                iif(json_type(data, '$.lastSyncedAt') = 'object', data -> '$.lastSyncedAt', NULL), data -> '$.linkedAt'))))
            FROM json_each(data, '$.deferredEvents') AS event))))), '$.deferredEvents')
    WHERE path LIKE 'calendars/%' AND json_type(data, '$.deferredEvents') = 'object';
