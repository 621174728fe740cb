import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Strategy, strategies } from '../../../lib/apps/app.ts';
import {
  addClaim,
  type Claim,
  type ClaimRequest,
  getEntitledSince,
  isLastStrategy,
  resolveEntitledUsers,
} from '../../../lib/purchases/claims.ts';

const arbitraryHistory = fc.array(
  fc.record({
    username: fc.constantFrom('ann', 'bob', 'cy'),
    source: fc.constantFrom<Claim['source']>('validation', 'validation', 'manual'),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Applies the claims in order, by writers whose clocks differ. */
const applyClaims = (
  history: readonly ClaimRequest[],
  { strategy = 'all', clock = (index) => index }: { strategy?: Strategy; clock?: (index: number) => number } = {},
): readonly Claim[] =>
  history.reduce<readonly Claim[]>(
    (claims, request, index) => addClaim(claims, request, { userAliases: [], strategy, now: clock(index) }),
    [],
  );

const resolveUsers = (history: readonly ClaimRequest[], strategy: Strategy, clock?: (index: number) => number) =>
  resolveEntitledUsers(applyClaims(history, { strategy, ...(clock && { clock }) }), strategy);

const toValidations = (usernames: readonly string[]): ClaimRequest[] =>
  usernames.map((username) => ({ username, source: 'validation' }));

describe('resolveEntitledUsers', () => {
  it('returns the user of the latest manual link with every strategy', () => {
    fc.assert(
      fc.property(arbitraryHistory, fc.constantFrom(...strategies), (history, strategy) => {
        const link = history.findLast(({ source }) => source === 'manual');
        fc.pre(link !== undefined);
        expect(resolveUsers(history, strategy)).toEqual([link?.username]);
      }),
    );
  });

  it('returns all, the first or the last validating user without a manual link and with any clocks of the writers', () => {
    fc.assert(
      fc.property(arbitraryHistory, fc.infiniteStream(fc.nat(100)), (history, times) => {
        const names = history.map(({ username }) => username);
        const clock = () => times.next().value as number;
        expect(resolveUsers(toValidations(names), 'all', clock)).toEqual([...new Set(names)]);
        expect(resolveUsers(toValidations(names), 'first', clock)).toEqual([names[0]]);
        expect(resolveUsers(toValidations(names), 'last', clock)).toEqual([names.at(-1)]);
        expect(resolveUsers(toValidations(names), 'last-if-inactive', clock)).toEqual([names.at(-1)]);
      }),
    );
  });

  it('does not depend on the order of the claims', () => {
    fc.assert(
      fc.property(arbitraryHistory, fc.constantFrom(...strategies), (history, strategy) => {
        const claims = applyClaims(history);
        expect(resolveEntitledUsers([...claims].reverse(), strategy)).toEqual(resolveEntitledUsers(claims, strategy));
      }),
    );
  });

  it('returns no users for an unclaimed purchase', () => {
    for (const strategy of strategies) expect(resolveEntitledUsers([], strategy)).toEqual([]);
  });

  it('returns the first users up to 150,000 bytes and 500 users of any stored claims', () => {
    const arbitraryLengths = fc.array(fc.integer({ min: 5, max: 900 }), { minLength: 400, maxLength: 600 });
    fc.assert(
      fc.property(arbitraryLengths, fc.constantFrom('x', 'ü', '\u{1f600}'), (lengths, letter) => {
        const usernames = lengths.map((length, index) => `${index}-${letter.repeat(length / letter.length / 2)}`);
        const claims = usernames.map((username, index) => ({
          username,
          source: 'validation' as const,
          firstClaimedAt: index,
          lastClaimedAt: index,
        }));
        const entitled = resolveEntitledUsers(claims, 'all');
        expect(entitled).toEqual(usernames.slice(0, entitled.length));
        expect(Buffer.byteLength(entitled.join(''))).toBeLessThanOrEqual(150_000);
        const next = usernames.slice(0, entitled.length + 1);
        const isFull = entitled.length === 500 || Buffer.byteLength(next.join('')) > 150_000;
        expect(isFull || entitled.length === usernames.length).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});

describe('addClaim', () => {
  it.each(strategies)('keeps the claims below 150,000 bytes with the strategy "%s"', (strategy) => {
    const usernames = Array.from({ length: 500 }, (_, index) => `${index}-`.padEnd(900, 'x'));
    const claims = applyClaims(toValidations(usernames), { strategy });
    expect(Buffer.byteLength(claims.map(({ username }) => username).join(''))).toBeLessThanOrEqual(150_000);
    const expected = isLastStrategy(strategy)
      ? usernames.slice(-1)
      : usernames.slice(0, strategy === 'first' ? 1 : 166);
    expect(resolveEntitledUsers(claims, strategy)).toEqual(expected);
  });

  it('accepts a manual link of a purchase with the maximum number of claims', () => {
    const names = Array.from({ length: 500 }, (_, index) => `user-${index}`);
    const history = [...toValidations(names), { username: 'linked', source: 'manual' } as const];
    expect(applyClaims(history)).toHaveLength(500);
    expect(resolveUsers(history, 'all')).toEqual(['linked']);
  });
});

describe('claim by alias', () => {
  const md5 = createHash('md5').update('ann').digest('hex');
  const options = { userAliases: ['some-token', md5], strategy: 'first', now: 2 } as const;
  const givenAliasClaim = (username: string) => addClaim([], { username, source: 'alias' }, { ...options, now: 1 });
  const validate = (username: string, isNamedByStore: boolean): ClaimRequest => ({
    username,
    source: 'validation',
    isNamedByStore,
  });

  it('yields to the validation of a customer whom the store names', () => {
    const claims = addClaim(givenAliasClaim('mallory'), validate('victim', true), options);
    expect(claims.map(({ username }) => username)).toEqual(['victim']);
  });

  it('stays if the store does not name the validating customer', () => {
    const claims = addClaim(givenAliasClaim('ann'), validate('bob', false), options);
    expect(resolveEntitledUsers(claims, 'first')).toEqual(['ann']);
  });

  it('stays if the alias is the MD5 of the username', () => {
    const claims = addClaim(givenAliasClaim('ann'), validate('mallory', true), options);
    expect(resolveEntitledUsers(claims, 'first')).toEqual(['ann']);
  });

  it('stays after its customer validates', () => {
    const own = addClaim(givenAliasClaim('bob'), validate('bob', true), options);
    const claims = addClaim(own, validate('mallory', true), options);
    expect(resolveEntitledUsers(claims, 'first')).toEqual(['bob']);
    expect(own).toMatchObject([{ source: 'validation', firstClaimedAt: 1 }]);
  });
});

describe('imported claim', () => {
  const now = 1_000;
  const toImport = (username: string, claimedAt: number): ClaimRequest => ({
    username,
    source: 'validation',
    claimedAt,
  });
  const add = (claims: readonly Claim[], request: ClaimRequest, strategy: Strategy): readonly Claim[] =>
    addClaim(claims, request, { userAliases: [], strategy, now });
  const arbitraryImports = fc.array(
    fc.record({ username: fc.constantFrom('ann', 'bob', 'cy'), claimedAt: fc.nat({ max: 2 * now }) }),
    { minLength: 1, maxLength: 6 },
  );

  it('leads to the same result in any order, and if it is repeated', () => {
    const property = fc.property(
      arbitraryImports.chain((imports) =>
        fc.tuple(
          fc.constant(imports),
          fc.shuffledSubarray([...imports, ...imports], { minLength: 2 * imports.length }),
        ),
      ),
      fc.constantFrom(...strategies),
      ([imports, shuffled], strategy) => {
        const [claims, others] = [imports, shuffled].map((list) =>
          list.reduce<readonly Claim[]>(
            (applied, { username, claimedAt }) => add(applied, toImport(username, claimedAt), strategy),
            [],
          ),
        ) as [readonly Claim[], readonly Claim[]];
        const users = resolveEntitledUsers(claims, strategy);
        expect(resolveEntitledUsers(others, strategy)).toEqual(users);
        const again = imports.reduce(
          (applied, { username, claimedAt }) => add(applied, toImport(username, claimedAt), strategy),
          claims,
        );
        expect(again).toBe(claims);
      },
    );
    fc.assert(property);
  });

  it('does not take a purchase from a later validation with strategy last', () => {
    const live = addClaim(
      [],
      { username: 'bob', source: 'validation' },
      { userAliases: [], strategy: 'last', now: 500 },
    );
    expect(resolveEntitledUsers(add(live, toImport('ann', 400), 'last'), 'last')).toEqual(['bob']);
    expect(resolveEntitledUsers(add(live, toImport('ann', 600), 'last'), 'last')).toEqual(['ann']);
  });

  it('precedes a later validation with strategy first', () => {
    const live = addClaim(
      [],
      { username: 'bob', source: 'validation' },
      { userAliases: [], strategy: 'first', now: 500 },
    );
    expect(resolveEntitledUsers(add(live, toImport('ann', 400), 'first'), 'first')).toEqual(['ann']);
    expect(resolveEntitledUsers(add(live, toImport('ann', 600), 'first'), 'first')).toEqual(['bob']);
  });

  it('does not change a manual link', () => {
    const linked = addClaim([], { username: 'bob', source: 'manual' }, { userAliases: [], strategy: 'all', now: 500 });
    const claims = add(add(linked, toImport('ann', 900), 'last'), toImport('bob', 100), 'last');
    expect(resolveEntitledUsers(claims, 'last')).toEqual(['bob']);
    expect(claims).toContainEqual({ username: 'bob', source: 'manual', firstClaimedAt: 500, lastClaimedAt: 500 });
  });

  it('entitles from the time of the import, and is never in the future', () => {
    const [claim] = add([], toImport('ann', 400), 'all');
    expect(claim && getEntitledSince(claim, 'all')).toBe(now);
    expect(add([], toImport('ann', 5_000), 'all')).toMatchObject([{ firstClaimedAt: now, lastClaimedAt: now }]);
  });

  it('does not evict a claim if the purchase has the maximum number of claims', () => {
    const full = Array.from(
      { length: 500 },
      (_, index): ClaimRequest => ({ username: `${index}`, source: 'validation' }),
    );
    const claims = applyClaims(full, { strategy: 'last' });
    expect(claims).toHaveLength(500);
    expect(add(claims, toImport('ann', 900), 'last')).toBe(claims);
  });
});

describe('strategy last-if-inactive', () => {
  const claim = (claims: readonly Claim[], username: string, options: { isInUse: boolean; now: number }) =>
    addClaim(claims, { username, source: 'validation' }, { userAliases: [], strategy: 'last-if-inactive', ...options });
  const owners = (claims: readonly Claim[]) => resolveEntitledUsers(claims, 'last-if-inactive');

  it('keeps the owner while the purchase gives access, and passes it on afterwards', () => {
    const first = claim([], 'ann', { isInUse: false, now: 1 });
    const contested = claim(first, 'bob', { isInUse: true, now: 2 });
    expect(owners(contested)).toEqual(['ann']);
    const repeated = claim(contested, 'bob', { isInUse: true, now: 3 });
    expect(repeated).toBe(contested);
    expect(owners(claim(repeated, 'bob', { isInUse: false, now: 4 }))).toEqual(['bob']);
  });

  it('lets a manual link decide, and lets the remaining customer own the purchase of an erased one', () => {
    const contested = claim(claim([], 'ann', { isInUse: false, now: 1 }), 'bob', { isInUse: true, now: 2 });
    const rules = { userAliases: [], strategy: 'last-if-inactive', isInUse: true, now: 3 } as const;
    expect(owners(addClaim(contested, { username: 'bob', source: 'manual' }, rules))).toEqual(['bob']);
    expect(owners(contested.filter(({ username }) => username !== 'ann'))).toEqual(['bob']);
  });
});
