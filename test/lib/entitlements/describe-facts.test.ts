import { describe, expect, it } from '@jest/globals';
import { describeGrant, describeMerge } from '../../../lib/entitlements/describe-facts.ts';
import { commandLineKey } from '../../../lib/entitlements/grant.ts';

const revoked = {
  grantId: 'grant_1',
  username: 'ann',
  entitlement: 'premium',
  reason: 'lost phone',
  createdAt: 1,
  createdBy: commandLineKey,
  revokedAt: 2,
  revokedBy: commandLineKey,
  version: 2,
};
const reversed = {
  mergeId: 'merge_1',
  from: 'guest',
  to: 'ann',
  startedAt: 1,
  mergedBy: commandLineKey,
  aliases: [],
  reversedAt: 2,
  reversedBy: commandLineKey,
};

describe('facts of the command line', () => {
  it('name no key for a grant and its end', () => {
    expect(describeGrant(revoked, 3)).toMatchObject([
      { what: 'Granted on the command line: lost phone' },
      { what: 'Revoked on the command line.' },
    ]);
  });

  it('name no key for a merge and its reversal', () => {
    expect(describeMerge(reversed, 'ann')).toMatchObject([
      { what: 'The purchases and grants of guest were moved to this customer on the command line.' },
      { what: 'The merge was reversed on the command line.' },
    ]);
    expect(describeMerge(reversed, 'guest')[0]?.what).toBe(
      'The purchases and grants of this customer were moved to ann on the command line.',
    );
  });
});
