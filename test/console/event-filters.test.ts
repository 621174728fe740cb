import { describe, expect, it } from '@jest/globals';
import { matchesFilters } from '../../console/pages/event-filters.ts';

const build = (eventType: string, content: { notifications?: object[]; tags?: object } = {}) =>
  ({ context: { eventType }, content: { notifications: [], tags: {}, ...content } }) as unknown as Parameters<
    typeof matchesFilters
  >[0];

const notification = build('webhook.store_a.called');
const missed = build('notifications.reconciled', { notifications: [{ platform: 'store_a', type: 'DID_RENEW' }] });
const webhook = build('webhook.app.called', { tags: { 'store_b:1': '_P' } });
const replay = build('webhook.replayed');

describe('matchesFilters', () => {
  it.each([
    [{}, [true, true, true, true]],
    [{ kind: 'notification' }, [true, false, false, false]],
    [{ kind: 'missed', store: 'store_a' }, [false, true, false, false]],
    [{ kind: 'webhook' }, [false, false, true, false]],
    [{ store: 'store_a' }, [true, true, false, false]],
    [{ store: 'store_b' }, [false, false, true, false]],
    [{ kind: 'unknown' }, [true, true, true, true]],
  ])('selects by %j', (query, expected) => {
    expect([notification, missed, webhook, replay].map((event) => matchesFilters(event, query))).toEqual(expected);
  });
});
