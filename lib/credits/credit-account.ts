import * as v from 'valibot';
import { OptionalNumber } from '../api/schemas.ts';
import { sum } from '../foundation/collections.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';

/*
 * The account of a customer's credits: lots, balances and holds. All functions are pure and return a new account.
 *
 * For each credit, balance = granted - spent - takenBack - expired, at any time. A hold counts as spent until it is
 * released. Amounts are whole units. Times are epoch milliseconds.
 */

/** Units that were given at once and end at once. */
export const CreditLot = v.object({
  /** The payment that gave it, or the entry of a gift. Unique within the credit. */
  id: v.string(),
  origin: v.picklist(['payment', 'gift']),
  givenAt: v.number(),
  amount: v.number(),
  left: v.number(),
  /** Absent without an end. */
  expiresAt: OptionalNumber,
});
export type CreditLot = v.InferOutput<typeof CreditLot>;

/** Units of lots: the lot and the amount. The lot `''` is a debt. */
export const LotParts = v.array(v.tuple([v.string(), v.number()]));
export type LotParts = v.InferOutput<typeof LotParts>;

const CreditBalance = v.object({
  granted: v.number(),
  spent: v.number(),
  takenBack: v.number(),
  expired: v.number(),
  /** What was taken back below zero. Later lots pay it first. */
  debt: v.number(),
  /** Without the lots that are used up and that no hold can refill. */
  lots: v.array(CreditLot),
});
export type CreditBalance = v.InferOutput<typeof CreditBalance>;

/** A reservation of units. It expires, and its units are free again. */
const CreditHold = v.object({
  id: v.string(),
  credit: v.string(),
  amount: v.number(),
  until: v.number(),
  parts: LotParts,
});
export type CreditHold = v.InferOutput<typeof CreditHold>;

export const CreditAccount = v.object({
  username: v.string(),
  isSandbox: v.boolean(),
  credits: v.record(v.string(), CreditBalance),
  holds: v.array(CreditHold),
  /** When the service created it. Absent before the first write. */
  createdAt: OptionalNumber,
  /** Increases with each change. */
  version: v.number(),
});
export type CreditAccount = v.InferOutput<typeof CreditAccount> & {
  /** What `passTime` has ended since the account was read. Its write has an entry for each, and does not store them. */
  readonly expiries?: readonly CreditExpiry[];
};

/** Units of a credit that have ended. Several lots are one expiry, at the end of the last one. */
export interface CreditExpiry {
  readonly credit: string;
  readonly amount: number;
  readonly at: EpochMillis;
  /** The balance after them. */
  readonly balance: number;
}

export const createAccount = (username: string, isSandbox: boolean): CreditAccount => ({
  username,
  isSandbox,
  credits: {},
  holds: [],
  version: 0,
});

const emptyBalance: CreditBalance = { granted: 0, spent: 0, takenBack: 0, expired: 0, debt: 0, lots: [] };

export const findCredit = ({ credits }: Pick<CreditAccount, 'credits'>, credit: string): CreditBalance =>
  (Object.hasOwn(credits, credit) ? credits[credit] : undefined) ?? emptyBalance;

export const getBalance = ({ granted, spent, takenBack, expired }: CreditBalance): number =>
  granted - spent - takenBack - expired;

/** Releases the holds that have ended, and ends the lots, of at most `maxCredits` credits. */
export function passTime(
  account: CreditAccount,
  now: EpochMillis,
  maxCredits: number = Number.POSITIVE_INFINITY,
): CreditAccount {
  const ended = account.holds.filter(({ until }) => until <= now);
  const released = ended.reduce((changed, { id }) => releaseHold(changed, id), account);
  const expiring = Object.entries(released.credits).filter(([, { lots }]) => lots.some((lot) => hasEnded(lot, now)));
  return expiring.slice(0, maxCredits).reduce((changed, [credit]) => expireLots(changed, credit, now), released);
}

/** Returns the time at which units end next, also those that a hold can return. Undefined without an end. */
export function findNextEnd({ credits, holds }: CreditAccount): EpochMillis | undefined {
  const ends = Object.values(credits).flatMap(({ lots }) =>
    lots.map(({ id, left, expiresAt = noEnd }) => {
      const holding = left > 0 ? [] : holds.filter(({ parts }) => parts.some(([lotId]) => lotId === id));
      // The first hold that ends returns units.
      return holding.length === 0 ? expiresAt : Math.max(expiresAt, Math.min(...holding.map(({ until }) => until)));
    }),
  );
  const first = Math.min(noEnd, ...ends);
  return first === noEnd ? undefined : first;
}

const hasEnded = ({ expiresAt, left }: CreditLot, now: EpochMillis): boolean =>
  left > 0 && expiresAt !== undefined && expiresAt <= now;

function expireLots(account: CreditAccount, credit: string, now: EpochMillis): CreditAccount {
  const { lots, expired } = findCredit(account, credit);
  const ended = lots.filter((lot) => hasEnded(lot, now));
  const amount = sum(ended.map(({ left }) => left));
  const rest = lots.map((lot) => (hasEnded(lot, now) ? { ...lot, left: 0 } : lot));
  const changed = withCredit(account, credit, { lots: rest, expired: expired + amount });
  const at = Math.max(...ended.map(({ expiresAt = 0 }) => expiresAt));
  const expiry = { credit, amount, at, balance: getBalance(findCredit(changed, credit)) };
  return { ...changed, expiries: [...(account.expiries ?? []), expiry] };
}

/** Gives a lot, or more of a lot that the account has. It pays a debt first. */
export function giveLot(account: CreditAccount, credit: string, lot: Omit<CreditLot, 'left'>): CreditAccount {
  const { granted, debt, lots } = findCredit(account, credit);
  const paid = Math.min(debt, lot.amount);
  return withCredit(account, credit, {
    granted: granted + lot.amount,
    debt: debt - paid,
    lots: mergeLots(lots, [{ ...lot, left: lot.amount - paid }]),
  });
}

/** Moves the end of a lot, for example of a period that the store has extended. */
export function setLotEnd(
  account: CreditAccount,
  credit: string,
  { lotId, expiresAt }: { readonly lotId: string; readonly expiresAt: EpochMillis | undefined },
): CreditAccount {
  const { lots } = findCredit(account, credit);
  const changed = lots.map(({ expiresAt: before, ...lot }) => ({
    ...lot,
    ...omitUndefined({ expiresAt: lot.id === lotId ? expiresAt : before }),
  }));
  return withCredit(account, credit, { lots: changed });
}

/** Spends units of the lots that end first. Returns undefined if the balance does not suffice. */
export function spendCredits(account: CreditAccount, credit: string, amount: number): CreditAccount | undefined {
  const { spent } = findCredit(account, credit);
  const taken = takeUnits(account, credit, { amount });
  return taken.missing > 0 ? undefined : withCredit(taken.account, credit, { spent: spent + amount });
}

/** Reserves units. Returns undefined if the balance does not suffice. */
export function holdCredits(account: CreditAccount, hold: Omit<CreditHold, 'parts'>): CreditAccount | undefined {
  const { credit, amount } = hold;
  const { parts } = takeUnits(account, credit, { amount });
  const spent = spendCredits(account, credit, amount);
  return spent && { ...spent, holds: [...account.holds, { ...hold, parts }] };
}

export const findHold = ({ holds }: CreditAccount, id: string): CreditHold | undefined =>
  holds.find((hold) => hold.id === id);

/** Ends a hold: `amount` of its units stay spent, and the others return to their lots. */
export function captureHold(account: CreditAccount, id: string, amount: number): CreditAccount {
  const hold = findHold(account, id);
  if (!hold) return account;
  const rest = hold.amount - amount;
  // The units that end last return first.
  const returned = takeParts([...hold.parts].reverse(), rest);
  const { spent, lots } = findCredit(account, hold.credit);
  const open = { ...account, holds: account.holds.filter((other) => other !== hold) };
  return withCredit(open, hold.credit, { spent: spent - rest, lots: changeLots(lots, returned) });
}

export const releaseHold = (account: CreditAccount, id: string): CreditAccount => captureHold(account, id, 0);

interface Demand {
  /** The lot from which units are taken first. */
  readonly lotId: string;
  readonly amount: number;
  readonly allowsDebt: boolean;
}

/** Takes units back from the lot, then from the lots that end first. Returns what was taken. */
export function takeBack(
  account: CreditAccount,
  credit: string,
  { lotId, amount, allowsDebt }: Demand,
): { readonly account: CreditAccount; readonly parts: LotParts } {
  const taken = takeUnits(account, credit, { amount, first: lotId });
  const debt = allowsDebt ? taken.missing : 0;
  const { takenBack, debt: earlier } = findCredit(account, credit);
  const parts: LotParts = debt > 0 ? [...taken.parts, [debtLot, debt]] : taken.parts;
  const changed = { takenBack: takenBack + sumParts(parts), debt: earlier + debt };
  return { account: withCredit(taken.account, credit, changed), parts };
}

const debtLot = '';

/**
 * Returns units that were taken back. They pay a debt first, then refill `lot`, which may have been used up. Units that
 * the account does not count, because a merge has left their number with another customer, are granted.
 */
export function returnCredits(
  account: CreditAccount,
  credit: string,
  { lot, amount }: { readonly lot: Omit<CreditLot, 'left'>; readonly amount: number },
): CreditAccount {
  const { granted, takenBack, debt, lots } = findCredit(account, credit);
  const paid = Math.min(debt, amount);
  const counted = Math.min(takenBack, amount);
  const known = lots.some(({ id }) => id === lot.id) ? lots : [...lots, { ...lot, left: 0 }];
  return withCredit(account, credit, {
    granted: granted + amount - counted,
    takenBack: takenBack - counted,
    debt: debt - paid,
    lots: changeLots(known, [[lot.id, amount - paid]]),
  });
}

/**
 * Removes what is left of a lot, at most `amount` units, because the lot moves to another customer. They were never
 * granted here then.
 */
export function removeLot(
  account: CreditAccount,
  credit: string,
  { lotId, amount }: { readonly lotId: string; readonly amount: number },
): { readonly account: CreditAccount; readonly left: number } {
  const { granted, lots } = findCredit(account, credit);
  const left = sumParts(takeParts(listParts(lots.filter(({ id }) => id === lotId)), amount));
  const rest = lots.map((lot) =>
    lot.id === lotId ? { ...lot, left: lot.left - left, amount: lot.amount - left } : lot,
  );
  return { account: withCredit(account, credit, { granted: granted - left, lots: rest }), left };
}

/**
 * Adds units that a refund has taken back of a lot of another customer. A negative number removes them, at most those
 * that the account counts: a merge can have left some with another customer.
 */
export function addTakenBack(account: CreditAccount, credit: string, amount: number): CreditAccount {
  if (amount === 0) return account;
  const { granted, takenBack, debt } = findCredit(account, credit);
  const added = Math.max(amount, debt - takenBack);
  return withCredit(account, credit, { granted: granted + added, takenBack: takenBack + added });
}

/** Adds the ledgers of two customers. */
export function addAccounts(to: CreditAccount, from: Pick<CreditAccount, 'credits' | 'holds'>): CreditAccount {
  const names = Object.keys({ ...to.credits, ...from.credits });
  const credits = names.map((name) => {
    const [a, b] = [findCredit(to, name), findCredit(from, name)];
    const sums = {
      granted: a.granted + b.granted,
      spent: a.spent + b.spent,
      takenBack: a.takenBack + b.takenBack,
      expired: a.expired + b.expired,
    };
    return [name, payDebt({ ...sums, debt: a.debt + b.debt, lots: mergeLots(a.lots, b.lots) })] as const;
  });
  return { ...to, credits: Object.fromEntries(credits), holds: [...to.holds, ...from.holds] };
}

/** What a merge has added to an account. */
export const MovedCredits = v.object({ credits: v.record(v.string(), CreditBalance), holdIds: v.array(v.string()) });
export type MovedCredits = v.InferOutput<typeof MovedCredits>;

/**
 * Reverts `addAccounts`: returns what is left of the moved lots, the open holds, and the totals. What was spent of the
 * moved lots since stays with `account`, whose balance no longer has it.
 */
export function splitAccount(
  account: CreditAccount,
  { credits, holdIds }: MovedCredits,
): { readonly rest: CreditAccount; readonly returned: Pick<CreditAccount, 'credits' | 'holds'> } {
  const holds = account.holds.filter(({ id, credit }) => holdIds.includes(id) && Object.hasOwn(credits, credit));
  const open = account.holds.filter((hold) => !holds.includes(hold));
  const split = Object.entries(credits).map(([name, moved]) => {
    const returning = { ...moved, lots: splitLots(moved.lots, findCredit(account, name).lots, listHeldLots(holds)) };
    const held = sum(open.filter(({ credit }) => credit === name).map(({ amount }) => amount));
    return [name, splitBalance(name, { present: findCredit(account, name), returning, held })] as const;
  });
  const toCredits = (part: 'rest' | 'returned') =>
    Object.fromEntries(split.map(([name, balances]) => [name, balances[part]]));
  return {
    rest: { ...account, credits: { ...account.credits, ...toCredits('rest') }, holds: open },
    returned: { credits: toCredits('returned'), holds },
  };
}

/** Returns what is left of moved lots, including lots that a returned hold can refill. */
const splitLots = (
  moved: readonly CreditLot[],
  present: readonly CreditLot[],
  held: ReadonlySet<string>,
): CreditLot[] =>
  moved.flatMap((lot) => {
    const open = present.find(({ id }) => id === lot.id);
    const left = Math.min(lot.left, open?.left ?? 0);
    if (left === 0 && !held.has(lot.id)) return [];
    return [{ ...(open ?? lot), amount: Math.max(left, lot.amount - lot.left + left), left }];
  });

/**
 * Splits one credit. `held` units are in the open holds that stay. No total that returns exceeds what the account has,
 * because a later merge can have removed some. A debt is a part of `takenBack`.
 */
function splitBalance(
  credit: string,
  { present, returning, held }: { present: CreditBalance; returning: CreditBalance; held: number },
): { readonly rest: CreditBalance; readonly returned: CreditBalance } {
  const parts = returning.lots.map(({ id, left }): [string, number] => [id, left]);
  const spent = Math.min(returning.spent, present.spent - held);
  const expired = Math.min(returning.expired, present.expired);
  const paid = Math.min(present.debt, returning.debt);
  const takenBack = Math.min(returning.takenBack, present.takenBack - present.debt + paid);
  const debt = Math.min(returning.debt, takenBack);
  const granted = sumParts(parts) - debt + spent + takenBack + expired;
  // Units that paid the debt of the other customer.
  const refunded = debt - paid;
  return {
    returned: { granted, spent, takenBack, expired, debt, lots: returning.lots },
    rest: {
      granted: present.granted - granted,
      spent: present.spent - spent,
      takenBack: present.takenBack - takenBack,
      expired: present.expired - expired,
      debt: present.debt - paid,
      lots: mergeLots(drainLots(present.lots, parts), refunded > 0 ? [toRefundLot(credit, refunded)] : []),
    },
  };
}

const toRefundLot = (credit: string, amount: number): CreditLot => ({
  id: `debt/${credit}`,
  origin: 'gift',
  givenAt: 0,
  amount,
  left: amount,
});

/** Two customers can have parts of one lot. An account has each lot once. */
function mergeLots(a: readonly CreditLot[], b: readonly CreditLot[]): CreditLot[] {
  const merged = new Map(a.map((lot) => [lot.id, lot]));
  for (const lot of b) {
    const other = merged.get(lot.id);
    merged.set(lot.id, other ? addLots(other, lot) : lot);
  }
  return [...merged.values()];
}

/** Pays a debt with the lots that end first. */
function payDebt(balance: CreditBalance): CreditBalance {
  const parts = takeParts(listParts(balance.lots), balance.debt);
  return { ...balance, debt: balance.debt - sumParts(parts), lots: drainLots(balance.lots, parts) };
}

/** Takes units of the lots in the order in which they end. */
function takeUnits(
  account: CreditAccount,
  credit: string,
  { amount, first }: { readonly amount: number; readonly first?: string },
): { readonly account: CreditAccount; readonly parts: LotParts; readonly missing: number } {
  const { lots } = findCredit(account, credit);
  const available = listParts(lots);
  const ordered = [...available.filter(([id]) => id === first), ...available.filter(([id]) => id !== first)];
  const parts = takeParts(ordered, amount);
  const changed = withCredit(account, credit, { lots: drainLots(lots, parts) });
  return { account: changed, parts, missing: amount - sumParts(parts) };
}

/** Lists what is left of the lots, that which ends first at the start. */
const listParts = (lots: readonly CreditLot[]): LotParts =>
  [...lots]
    .sort((a, b) => compareEnds(a, b) || a.givenAt - b.givenAt)
    .map(({ id, left }): [string, number] => [id, left])
    .filter(([, left]) => left > 0);

/** Sorts by end. A lot without an end is the last. */
const compareEnds = ({ expiresAt: a = noEnd }: CreditLot, { expiresAt: b = noEnd }: CreditLot): number => a - b;
const noEnd = Number.MAX_SAFE_INTEGER;

/** Takes at most `amount` units of the parts, in their order. */
export function takeParts(parts: LotParts, amount: number): LotParts {
  let missing = amount;
  return parts.flatMap(([id, left]): LotParts => {
    const taken = Math.min(left, missing);
    missing -= taken;
    return taken > 0 ? [[id, taken]] : [];
  });
}

const drainLots = (lots: readonly CreditLot[], parts: LotParts): CreditLot[] =>
  changeLots(
    lots,
    parts.map(([id, amount]) => [id, -amount]),
  );

function changeLots(lots: readonly CreditLot[], parts: LotParts): CreditLot[] {
  const changes = new Map(parts);
  return lots.map((lot) => (changes.has(lot.id) ? { ...lot, left: lot.left + (changes.get(lot.id) ?? 0) } : lot));
}

export const sumParts = (parts: LotParts): number => sum(parts.map(([, amount]) => amount));

const withCredit = (account: CreditAccount, credit: string, changes: Partial<CreditBalance>): CreditAccount => ({
  ...account,
  credits: { ...account.credits, [credit]: { ...findCredit(account, credit), ...changes } },
});

const listHeldLots = (holds: readonly CreditHold[]): ReadonlySet<string> =>
  new Set(holds.flatMap(({ parts }) => parts.map(([id]) => id)));

/** Each write of an account has all open lots, so that more of them cost more. */
export const maxLots = 100;

/** Removes used lots, unless a hold can refill them. Joins the oldest ones of a credit with many. */
export function compactAccount(account: CreditAccount): CreditAccount {
  const held = listHeldLots(account.holds);
  const credits = Object.entries(account.credits).map(([name, balance]) => {
    const open = balance.lots.filter(({ id, left }) => left > 0 || held.has(id));
    return [name, { ...balance, lots: open.length > maxLots ? joinLots(open, held) : open }] as const;
  });
  return { ...account, credits: Object.fromEntries(credits) };
}

/** Joins lots that end at the same time, oldest first, until half of the maximum is left where that is possible. */
function joinLots(lots: readonly CreditLot[], held: ReadonlySet<string>): CreditLot[] {
  const byAge = [...lots].sort((a, b) => a.givenAt - b.givenAt);
  const oldest = byAge.slice(0, lots.length - maxLots / 2).filter(({ id }) => !held.has(id));
  const joined = new Map<number | undefined, CreditLot>();
  for (const lot of oldest) {
    const earlier = joined.get(lot.expiresAt);
    joined.set(lot.expiresAt, earlier ? addLots(earlier, lot) : lot);
  }
  return [...joined.values(), ...byAge.filter((lot) => !oldest.includes(lot))];
}

/** Adds what `b` has to `a`. The end of `b` is the later information. */
const addLots = (a: CreditLot, b: CreditLot): CreditLot => ({
  ...b,
  id: a.id,
  givenAt: a.givenAt,
  amount: a.amount + b.amount,
  left: a.left + b.left,
});
