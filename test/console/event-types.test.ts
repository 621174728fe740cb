import { describe, expect, it } from '@jest/globals';
import { describeEventType } from '../../console/pages/event-types.ts';
import { contracts } from '../../lib/contracts/index.ts';

describe('describeEventType', () => {
  it('describeEventType has a name for the event of each endpoint', () => {
    const types = contracts.flatMap(({ eventType }) => eventType ?? []);
    expect(types.filter((type) => describeEventType(type) === type)).toEqual([]);
  });

  it.each([
    ['receipt.validated', 'Receipt not validated'],
    ['receipt.refreshed', 'Refresh failed'],
  ])('names a failed %s as a failure', (type, name) => {
    expect(describeEventType(type, true)).toBe(name);
  });
});
