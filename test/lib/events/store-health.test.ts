import { describe, expect, it } from '@jest/globals';
import type { StoreActivity } from '../../../lib/events/store-activity-table.ts';
import { deriveStoreHealth } from '../../../lib/events/store-health.ts';
import { minuteMs } from '../../../lib/foundation/time.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const toActivity = (kind: StoreActivity['kind'], minutesAgo: number): StoreActivity => ({
  platform: 'store_a',
  kind,
  date: now - minutesAgo * minuteMs,
});

describe('deriveStoreHealth', () => {
  it.each([
    ['unused', 'never contacted', undefined, undefined, [0, 0]],
    ['ok', 'unused in the last hour', 300, undefined, [0, 0]],
    ['failing', 'unused in the last hour after a failure', 300, 200, [0, 0]],
    ['ok', 'of which one request of many failed last', 1, 0, [66, 1]],
    ['degraded', 'of which the only request failed', 300, 0, [1, 1]],
    ['degraded', 'of which a fifth of the requests failed', 0, 1, [50, 10]],
    ['failing', 'of which half of the requests failed', 0, 1, [50, 25]],
    ['failing', 'of which every request has failed for three minutes', 3, 0, [200, 12]],
  ] as const)('returns %s for a store %s', (health, _name, success, failure, [numRequests, numFailures]) => {
    expect(
      deriveStoreHealth({
        ...(success !== undefined && { success: toActivity('success', success) }),
        ...(failure !== undefined && { failure: toActivity('failure', failure) }),
        recent: { numRequests, numFailures },
      }),
    ).toBe(health);
  });
});
