import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addAccounts,
  addTakenBack,
  type CreditAccount,
  captureHold,
  compactAccount,
  createAccount,
  findCredit,
  findHold,
  getBalance,
  giveLot,
  holdCredits,
  type MovedCredits,
  maxLots,
  passTime,
  releaseHold,
  removeLot,
  returnCredits,
  setLotEnd,
  spendCredits,
  splitAccount,
  takeBack,
} from '../../../lib/credits/credit-account.ts';
import { sampleRuns } from '../../../testing/sample.ts';

const empty = createAccount('ann', false);
const lot = (id: string, amount: number, expiresAt?: number) => ({
  id,
  origin: 'payment' as const,
  givenAt: 0,
  amount,
  ...(expiresAt !== undefined && { expiresAt }),
});
const give = (account: CreditAccount, id: string, amount: number, expiresAt?: number) =>
  giveLot(account, 'coins', lot(id, amount, expiresAt));
const balanceOf = (account: CreditAccount) => getBalance(findCredit(account, 'coins'));
const leftOf = (account: CreditAccount) =>
  Object.fromEntries(findCredit(account, 'coins').lots.map(({ id, left }) => [id, left]));
const spend = (account: CreditAccount, amount: number) => spendCredits(account, 'coins', amount) ?? account;

describe('credit account of a customer', () => {
  it('spends from the lot that ends first', () => {
    const account = give(give(give(empty, 'later', 10, 200), 'never', 10), 'first', 10, 100);
    expect(leftOf(spend(account, 15))).toEqual({ first: 0, later: 5, never: 10 });
  });

  it('rejects a spend beyond the balance', () => {
    expect(spendCredits(give(empty, 'a', 10), 'coins', 11)).toBeUndefined();
    expect(spendCredits(empty, 'gems', 1)).toBeUndefined();
  });

  it('expires the units of a lot at its end', () => {
    const account = spend(give(give(empty, 'a', 10, 100), 'b', 10), 4);
    expect(balanceOf(passTime(account, 99))).toBe(16);
    expect(findCredit(passTime(account, 100), 'coins')).toMatchObject({ expired: 6, spent: 4, granted: 20 });
  });

  it('returns units from a hold that ends, to their lots', () => {
    const account = give(give(empty, 'a', 10, 100), 'b', 10);
    const held = holdCredits(account, { id: 'h', credit: 'coins', amount: 15, until: 50 }) ?? account;
    expect(balanceOf(held)).toBe(5);
    expect(leftOf(passTime(compactAccount(held), 50))).toEqual({ a: 10, b: 10 });
    expect(leftOf(captureHold(held, 'h', 12))).toEqual({ a: 0, b: 8 });
    expect(balanceOf(passTime(held, 100))).toBe(10);
    expect(findHold(releaseHold(held, 'h'), 'h')).toBeUndefined();
  });

  it('takes back what is left, and falls below zero only with a debt', () => {
    const account = spend(give(give(empty, 'a', 10), 'b', 10), 12);
    const zero = takeBack(account, 'coins', { lotId: 'a', amount: 10, allowsDebt: false });
    expect([balanceOf(zero.account), zero.parts]).toEqual([0, [['b', 8]]]);
    const debt = takeBack(account, 'coins', { lotId: 'a', amount: 10, allowsDebt: true });
    expect(balanceOf(debt.account)).toBe(-2);
    expect(balanceOf(give(debt.account, 'c', 5))).toBe(3);
    const returned = returnCredits(debt.account, 'coins', { lot: lot('a', 10), amount: 10 });
    expect([balanceOf(returned), leftOf(compactAccount(returned))]).toEqual([8, { a: 8 }]);
  });

  it('keeps few open lots, whatever it is given', () => {
    let account = empty;
    for (let index = 0; index < 300; index++)
      account = compactAccount(give(account, `lot${index}`, 2, index % 3 ? undefined : 9));
    expect(findCredit(account, 'coins').lots.length).toBeLessThanOrEqual(maxLots);
    expect(balanceOf(account)).toBe(600);
    expect(balanceOf(passTime(account, 9))).toBe(400);
  });

  it('adds the credits of two customers, and splits them again without what was spent since', () => {
    const [a, b] = [spend(give(empty, 'a', 10), 3), spend(give(createAccount('bob', false), 'b', 5, 100), 1)];
    const added = addAccounts(b, a);
    expect(findCredit(added, 'coins')).toMatchObject({ granted: 15, spent: 4 });
    const { rest, returned } = splitAccount(spend(added, 6), { credits: a.credits, holdIds: [] });
    expect(getBalance(findCredit(returned, 'coins'))).toBe(5);
    expect(balanceOf(rest)).toBe(0);
  });

  it('joins a lot that returns to a customer with a part of it', () => {
    const held = holdCredits(give(empty, 'a', 20), { id: 'h', credit: 'coins', amount: 5, until: 50 }) ?? empty;
    const moved = removeLot(held, 'coins', { lotId: 'a', amount: 20 });
    const returned = give(releaseHold(moved.account, 'h'), 'a', moved.left);
    expect([balanceOf(returned), leftOf(returned)]).toEqual([20, { a: 20 }]);
    expect([balanceOf(spend(returned, 12)), leftOf(spend(returned, 12))]).toEqual([8, { a: 8 }]);
  });

  it('keeps the end of a lot that was extended while another customer had it', () => {
    const extended = give(give(empty, 'a', 5, 100), 'a', 5, 200);
    expect(balanceOf(passTime(extended, 100))).toBe(10);
    const moved = give(empty, 'a', 10, 100);
    const merged = addAccounts(createAccount('bob', false), moved);
    const later = setLotEnd(merged, 'coins', { lotId: 'a', expiresAt: 200 });
    const { returned } = splitAccount(later, { credits: moved.credits, holdIds: [] });
    expect(balanceOf(passTime({ ...empty, ...returned }, 100))).toBe(10);
  });

  it('returns what paid the debts of two merged customers with each split', () => {
    const indebted = (debt: number) => takeBack(empty, 'coins', { lotId: '', amount: debt, allowsDebt: true }).account;
    let account = give(createAccount('bob', false), 'a', 20);
    for (const debt of [5, 3]) account = addAccounts(account, indebted(debt));
    expect(leftOf(account)).toEqual({ a: 12 });
    for (const debt of [5, 3]) account = splitAccount(account, { credits: indebted(debt).credits, holdIds: [] }).rest;
    expect(balanceOf(account)).toBe(20);
    expect(leftOf(spend(account, 15))).toEqual({ a: 0, 'debt/coins': 5 });
  });

  it('does not return units that have moved on, and no number falls below zero', () => {
    const moved = passTime(spend(give(give(empty, 'a', 10), 'b', 4, 9), 3), 9);
    const emptied = { ...addAccounts(createAccount('bob', false), moved), credits: {} };
    const { rest, returned } = splitAccount(emptied, { credits: moved.credits, holdIds: [] });
    for (const { credits } of [rest, returned])
      expect(findCredit({ credits }, 'coins')).toMatchObject({ granted: 0, spent: 0, takenBack: 0, expired: 0 });
  });
});

const amount = fc.integer({ min: 1, max: 20 });
const id = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  fc.record({
    type: fc.constant('give' as const),
    id,
    amount,
    end: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  }),
  fc.record({ type: fc.constantFrom('spend' as const, 'hold' as const), amount }),
  fc.record({ type: fc.constant('end' as const), amount: fc.integer({ min: 0, max: 20 }) }),
  fc.record({ type: fc.constant('takeBack' as const), id, amount, debt: fc.boolean() }),
  fc.record({ type: fc.constant('return' as const), id, amount }),
  fc.record({ type: fc.constant('move' as const), amount: fc.integer({ min: -20, max: 20 }) }),
  fc.record({ type: fc.constant('remove' as const), id, amount }),
  fc.record({ type: fc.constant('merge' as const), id, amount, debt: fc.nat(9) }),
  fc.record({ type: fc.constant('split' as const), merge: fc.nat(9) }),
  fc.record({ type: fc.constant('leave' as const) }),
);

/** Throws if the balance is not the sum of the lots without the debt, or if a number is below zero. */
function checkCredit({ credits }: Pick<CreditAccount, 'credits'>): void {
  const { lots, debt, ...totals } = findCredit({ credits }, 'coins');
  const units = lots.map(({ left }) => left);
  const balance = getBalance({ lots, debt, ...totals });
  // A matcher for each number would take most of the time of a million steps.
  if (units.reduce((sum, left) => sum + left, 0) - debt !== balance) throw new Error('The lots are not the balance.');
  if ([debt, ...Object.values(totals), ...units].some((number) => number < 0)) throw new Error('A number is negative.');
}

describe('credit account (any history)', () => {
  it('keeps the balance at the sum of its lots without the debt, and each number at zero or more', () => {
    const property = fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      let account = empty;
      let taken = 0;
      const merges: MovedCredits[] = [];
      for (const [now, part] of steps.entries()) {
        account = passTime(account, now);
        if (part.type === 'give') account = give(account, part.id, part.amount, part.end);
        else if (part.type === 'spend') account = spend(account, part.amount);
        else if (part.type === 'hold') {
          const hold = { id: `h${now}`, credit: 'coins', amount: part.amount, until: now + 5 };
          account = holdCredits(account, hold) ?? account;
        } else if (part.type === 'end') {
          const [hold] = account.holds;
          if (hold) account = captureHold(account, hold.id, Math.min(part.amount, hold.amount));
        } else if (part.type === 'takeBack') {
          const result = takeBack(account, 'coins', { lotId: part.id, amount: part.amount, allowsDebt: part.debt });
          account = result.account;
          taken += result.parts.reduce((sum, [, units]) => sum + units, 0);
        } else if (part.type === 'return') {
          // A merge or a move can have left the number with another customer.
          const units = Math.min(taken, part.amount);
          taken -= units;
          account = returnCredits(account, 'coins', { lot: lot(part.id, 20), amount: units });
        } else if (part.type === 'move') account = addTakenBack(account, 'coins', part.amount);
        else if (part.type === 'remove')
          account = removeLot(account, 'coins', { lotId: part.id, amount: part.amount }).account;
        else if (part.type === 'merge') {
          const demand = { lotId: '', amount: part.debt, allowsDebt: true };
          const { account: bob } = takeBack(give(createAccount('bob', false), part.id, part.amount), 'coins', demand);
          const held = holdCredits(bob, { id: `m${now}`, credit: 'coins', amount: 1, until: now + 9 }) ?? bob;
          account = addAccounts(account, held);
          merges.push({ credits: held.credits, holdIds: held.holds.map(({ id }) => id) });
        } else if (part.type === 'split') {
          const [merge] = merges.splice(part.merge, 1);
          const { rest, returned } = splitAccount(account, merge ?? { credits: {}, holdIds: [] });
          checkCredit(returned);
          account = rest;
        } else account = { ...account, credits: {}, holds: [] };
        account = compactAccount(account);
        checkCredit(account);
      }
    });
    fc.assert(property, sampleRuns({ sample: 300, full: 34_000 }));
  });
});
