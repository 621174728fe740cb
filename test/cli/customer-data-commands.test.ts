import { describe, expect, it } from '@jest/globals';
import { toPartialError } from '../../cli/customer-data-commands.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';

const noCounts = {
  purchases: 0,
  aliases: 0,
  unclaimedPurchases: 0,
  vaultReferences: 0,
  accessTokens: 0,
  deliveries: 0,
  events: 0,
  customerItems: 0,
};
const failure = new ServiceError('Conflict', 'The user is still using the app.');

describe('toPartialError', () => {
  it('adds what was removed before the failure, as text and as data', () => {
    const removed = { ...noCounts, purchases: 2, events: 1 };
    expect(toPartialError(failure, removed)).toMatchObject({
      code: 'Conflict',
      message: `The user is still using the app.
Removed until then:
2 purchases without the customer now
1 event without the customer now`,
      data: { removed },
    });
  });

  it.each([[undefined], [noCounts]])(
    'does not change the failure of an erasure that removed nothing: %j',
    (removed) => {
      expect(toPartialError(failure, removed)).toBe(failure);
    },
  );
});
