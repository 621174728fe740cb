import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { type Strategy, strategies } from '../../lib/apps/app.ts';
import { addClaim, type Claim, type ClaimRequest, resolveEntitledUsers } from '../../lib/purchases/claims.ts';

type Step = ClaimRequest & { readonly isEnded?: boolean };

const validate = (username: string, isEnded = false): Step => ({ username, source: 'validation', isEnded });

/** The claims after the first validation of ann, by the row of the table. A merge is not a claim. */
const situations: Readonly<Record<string, readonly Step[]>> = {
  'bob restores the purchase on a new account': [validate('bob')],
  'bob restores it after it has ended': [validate('bob', true)],
  'two accounts on one device: bob validates, then ann': [validate('bob'), validate('ann')],
  'a receipt is shared: bob validates, then eve': [validate('bob'), validate('eve')],
  'family sharing: each member has a separate purchase': [],
  'ann is anonymous and signs in as bob': [validate('bob')],
  'the same, followed by a merge of ann into bob': [validate('bob')],
  'an operator links the purchase to bob': [{ username: 'bob', source: 'manual' }],
};

function resolveOwners(steps: readonly Step[], strategy: Strategy): string[] {
  const rules = { userAliases: [], strategy } as const;
  const claims = [validate('ann'), ...steps].reduce<readonly Claim[]>(
    (known, { isEnded, ...claim }, now) => addClaim(known, claim, { ...rules, isInUse: now > 0 && !isEnded, now }),
    [],
  );
  return resolveEntitledUsers(claims, strategy);
}

const rows = readFileSync('docs/guides/entitlements.md', 'utf8')
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, situation = '']) => situation in situations)
  .map(([, situation = '', ...cells]) => [situation, cells.slice(0, strategies.length)] as const);

describe('table of entitlement strategies', () => {
  it('lists all situations', () => expect(rows.map(([situation]) => situation)).toEqual(Object.keys(situations)));

  it.each(rows.filter(([situation]) => !situation.includes('merge')))('states the owners: %s', (situation, cells) => {
    const owners = strategies.map((strategy) =>
      resolveOwners(situations[situation] ?? [], strategy)
        .sort()
        .join(', '),
    );
    expect(cells).toEqual(owners);
  });
});
