import { toShortDigest } from '../foundation/key.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import type { EpochMillis } from '../foundation/time.ts';
import {
  addTakenBack,
  type CreditAccount,
  type CreditLot,
  findCredit,
  getBalance,
  giveLot,
  passTime,
  removeLot,
  returnCredits,
  setLotEnd,
  sumParts,
  takeBack,
  takeParts,
} from './credit-account.ts';
import type { CreditEntry } from './credit-entry.ts';
import type { CreditClaim, PurchaseCredits, SettledLot } from './purchase-credits.ts';

/** What a purchase has given, with the accounts that have it. */
export interface Settlement {
  readonly purchase: PurchaseCredits;
  /** The account of the owner. */
  readonly account: CreditAccount;
  /** The account of the customer who owned the purchase before. */
  readonly former: CreditAccount | undefined;
  readonly entries: readonly CreditEntry[];
  /** There is more to settle than one write can contain. */
  readonly isPartial: boolean;
}

interface SettlementRules {
  readonly now: EpochMillis;
  /** A refund may take the balance below zero. */
  readonly allowsDebt: boolean;
}

/** A transaction of the table has at most 100 writes: the purchase, two accounts, and what one more claim can add. */
const maxEntries = 94;

/** Nothing is to be given, taken back, extended or moved. */
export const isSettled = (purchase: PurchaseCredits, claims: readonly CreditClaim[], owner: string): boolean =>
  purchase.owner === owner &&
  claims.every((claim) => {
    const lot = findLot(purchase, claim);
    return lot !== undefined && lot.demanded === countDemanded(claim, lot) && lot.expiresAt === claim.expiresAt;
  });

/**
 * Gives what is claimed for the first time, and takes back what refunds demand. The owner receives what is left of the
 * lots of a former owner, who keeps what was spent. The accounts are open as of `now`.
 */
export function settle(
  { purchase, account, former }: Pick<Settlement, 'purchase' | 'account' | 'former'>,
  claims: readonly CreditClaim[],
  rules: SettlementRules,
): Settlement {
  const opened: Settlement = {
    purchase: { ...renamePayments(purchase, claims), owner: account.username },
    account,
    former,
    entries: [],
    isPartial: false,
  };
  let settlement = moveLots(opened, rules);
  for (const claim of claims) {
    if (countEntries(settlement) >= maxEntries) return { ...settlement, isPartial: true };
    settlement = settleClaim(settlement, claim, rules);
  }
  return settlement;
}

/** Counts the entries, with the entries of the expiries. */
const countEntries = ({ account, former, entries }: Settlement): number =>
  entries.length + (account.expiries ?? []).length + (former?.expiries ?? []).length;

/**
 * Renames the payments that have become a part of another transaction. A payment that is no longer a transaction and
 * gave the same credits is the one that is new. Its lots keep their ids: merges and holds refer to them.
 */
function renamePayments(purchase: PurchaseCredits, claims: readonly CreditClaim[]): PurchaseCredits {
  const claimed = new Set(claims.map(({ paymentId }) => paymentId));
  const lost = Object.entries(purchase.payments).filter(([id]) => !claimed.has(id));
  const renamed = new Map<string, string>();
  for (const { paymentId, credit, given } of claims) {
    if (Object.hasOwn(purchase.payments, paymentId) || [...renamed.values()].includes(paymentId)) continue;
    const former = lost.find(([id, lots]) => !renamed.has(id) && lots[credit]?.given === given);
    if (former) renamed.set(former[0], paymentId);
  }
  const payments = Object.entries(purchase.payments).map(([id, lots]) => {
    const name = renamed.get(id);
    if (name === undefined) return [id, lots];
    return [name, Object.fromEntries(Object.entries(lots).map(([credit, lot]) => [credit, { lotId: id, ...lot }]))];
  });
  return { ...purchase, payments: Object.fromEntries(payments) };
}

/**
 * Moves what is left of each lot to the new owner, with one entry for each customer and credit. The units that refunds
 * have taken of the lot move, too. A reversed refund returns them to the new owner, also those that were taken of
 * other lots of the former owner. A merge can have left units of the lot, or of others that were joined with it, which
 * the purchase has not given to its owner: they do not move.
 */
function moveLots(settlement: Settlement, { now }: SettlementRules): Settlement {
  let { account, former, purchase } = settlement;
  if (!former) return settlement;
  const moved = new Map<string, number>();
  for (const [paymentId, lots] of Object.entries(purchase.payments)) {
    for (const [credit, lot] of Object.entries(lots)) {
      const lotId = getLotId(paymentId, lot);
      const taken = sumParts(lot.taken);
      const takenOfLot = sumParts(lot.taken.filter(([id]) => id === lotId));
      const { account: rest, left } = removeLot(former, credit, { lotId, amount: lot.owned - taken });
      const owned = left + taken;
      former = addTakenBack(rest, credit, -takenOfLot);
      account = addTakenBack(account, credit, takenOfLot);
      if (left > 0) account = giveLot(account, credit, toLot({ lotId, givenAt: now, expiresAt: lot.expiresAt }, left));
      const demanded = Math.min(lot.demanded, owned);
      purchase = withLot(purchase, { paymentId, credit }, { ...lot, owned, demanded });
      moved.set(credit, (moved.get(credit) ?? 0) + left);
    }
  }
  let after: Settlement = { ...settlement, account, former, purchase };
  for (const [credit, amount] of moved) {
    if (amount === 0) continue;
    after = addEntry(after, former, { at: now, type: 'moved', credit, amount });
    after = addEntry(after, account, { at: now, type: 'received', credit, amount });
  }
  return after;
}

function settleClaim(settlement: Settlement, claim: CreditClaim, rules: SettlementRules): Settlement {
  const { purchase, account } = settlement;
  const { credit, given, expiresAt } = claim;
  const lot = findLot(purchase, claim);
  if (!lot) {
    const ownLot = { given, owned: given, ...omitUndefined({ expiresAt }), demanded: 0, taken: [] };
    const changed = giveLot(account, credit, toLot({ ...claim, lotId: claim.paymentId }, given));
    const after = { ...settlement, account: changed, purchase: withLot(purchase, claim, ownLot) };
    const entry = {
      at: rules.now,
      type: 'given',
      ...pickPayment(claim),
      amount: given,
      ...omitUndefined({ expiresAt }),
    } as const;
    return settleClaim(addEntry(after, changed, entry), claim, rules);
  }
  const extended = extendLot(settlement, claim, lot);
  const demanded = countDemanded(claim, lot);
  if (demanded > lot.demanded) return takeBackLot(extended, claim, rules);
  return demanded < lot.demanded ? returnLot(extended, claim, rules) : extended;
}

function extendLot(settlement: Settlement, claim: CreditClaim, { expiresAt: before, ...lot }: SettledLot): Settlement {
  const { credit, paymentId, expiresAt } = claim;
  if (before === expiresAt) return settlement;
  const account = setLotEnd(settlement.account, credit, { lotId: getLotId(paymentId, lot), expiresAt });
  const purchase = withLot(settlement.purchase, claim, { ...lot, ...omitUndefined({ expiresAt }) });
  return { ...settlement, account, purchase };
}

function takeBackLot(settlement: Settlement, claim: CreditClaim, { now, allowsDebt }: SettlementRules): Settlement {
  const { credit, paymentId } = claim;
  const lot = requireLot(settlement, claim);
  const demanded = countDemanded(claim, lot);
  const demand = { lotId: getLotId(paymentId, lot), amount: demanded - lot.demanded, allowsDebt };
  const { account, parts } = takeBack(settlement.account, credit, demand);
  const purchase = withLot(settlement.purchase, claim, { ...lot, demanded, taken: [...lot.taken, ...parts] });
  const after = { ...settlement, account, purchase };
  const amount = sumParts(parts);
  if (amount === 0) return after;
  return addEntry(after, account, { at: now, type: 'taken-back', ...pickPayment(claim), amount });
}

/** Returns what was taken beyond what is still demanded: less than was demanded if the customer had spent some. */
function returnLot(settlement: Settlement, claim: CreditClaim, { now }: SettlementRules): Settlement {
  const { credit } = claim;
  const lot = requireLot(settlement, claim);
  const demanded = countDemanded(claim, lot);
  const amount = Math.max(0, sumParts(lot.taken) - demanded);
  const taken = takeParts(lot.taken, Math.min(demanded, sumParts(lot.taken)));
  const lotId = getLotId(claim.paymentId, lot);
  const returned = returnCredits(settlement.account, credit, { lot: toLot({ ...claim, lotId }, lot.given), amount });
  // A lot that has ended since ends again.
  const account = passTime(returned, now);
  const after = { ...settlement, account, purchase: withLot(settlement.purchase, claim, { ...lot, demanded, taken }) };
  return amount === 0 ? after : addEntry(after, account, { at: now, type: 'returned', ...pickPayment(claim), amount });
}

/** A customer gives back at most what the customer received. */
const countDemanded = ({ demanded }: CreditClaim, { owned }: SettledLot): number => Math.min(demanded, owned);

/** Returns the id of the lot that the payment gave. */
const getLotId = (paymentId: string, { lotId = paymentId }: Pick<SettledLot, 'lotId'>): string => lotId;

const findLot = ({ payments }: PurchaseCredits, { paymentId, credit }: CreditClaim): SettledLot | undefined =>
  Object.hasOwn(payments, paymentId) ? payments[paymentId]?.[credit] : undefined;

function requireLot({ purchase }: Settlement, claim: CreditClaim): SettledLot {
  const lot = findLot(purchase, claim);
  if (!lot) throw new Error(`The payment ${claim.paymentId} has given nothing.`);
  return lot;
}

const withLot = (
  purchase: PurchaseCredits,
  { paymentId, credit }: Pick<CreditClaim, 'paymentId' | 'credit'>,
  lot: SettledLot,
): PurchaseCredits => {
  const lots = { ...purchase.payments[paymentId], [credit]: lot };
  return { ...purchase, payments: { ...purchase.payments, [paymentId]: lots } };
};

const toLot = (
  { lotId, givenAt, expiresAt }: Pick<CreditClaim, 'givenAt' | 'expiresAt'> & { readonly lotId: string },
  amount: number,
): Omit<CreditLot, 'left'> => ({ id: lotId, origin: 'payment', givenAt, amount, ...omitUndefined({ expiresAt }) });

const pickPayment = ({ credit, transactionId }: CreditClaim) => ({ credit, transactionId });

/** Appends an entry about an account, with its balance. */
function addEntry(
  settlement: Settlement,
  account: CreditAccount,
  entry: Pick<CreditEntry, 'at' | 'type' | 'credit' | 'amount'> & Partial<CreditEntry>,
): Settlement {
  const { entries, purchase } = settlement;
  const { username, isSandbox } = account;
  const { purchaseId } = purchase;
  const balance = getBalance(findCredit(account, entry.credit));
  const entryId = toEntryId(purchase, entries.length);
  return { ...settlement, entries: [...entries, { entryId, username, isSandbox, balance, purchaseId, ...entry }] };
}

const toEntryId = ({ purchaseId, version }: PurchaseCredits, index: number): string =>
  `credit_${toShortDigest(JSON.stringify([purchaseId, version, index]), 24)}`;
