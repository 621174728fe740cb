import { toShortDigest } from '../foundation/key.ts';
import type { Service } from '../foundation/service.ts';
import type { EpochMillis } from '../foundation/time.ts';
import { retryUntilWritten } from '../foundation/updates.ts';
import { addAccounts, type CreditAccount, findCredit, getBalance, splitAccount } from './credit-account.ts';
import type { CreditEntry } from './credit-entry.ts';
import { type CreditMove, findMove, findPurchaseCredits, openAccount, saveCredits } from './credit-table.ts';

interface MergedCustomers {
  readonly from: string;
  readonly to: string;
  readonly mergeId: string;
}

const done = { isDone: true } as const;

/** Credits of one write: a transaction has at most 100 writes, among them two entries of each credit. */
const maxCredits = 35;

/**
 * Adds the credits of a merged customer to the other customer, before the purchases move. Idempotent: what the
 * merged customer receives later is added by the next call.
 */
export async function moveCredits(service: Service, appName: string, merge: MergedCustomers): Promise<void> {
  for (const isSandbox of [false, true]) await moveAccount(service, appName, { ...merge, isSandbox });
}

/** Returns what `moveCredits` has moved and is not spent. Idempotent. */
export async function returnMovedCredits(service: Service, appName: string, merge: MergedCustomers): Promise<void> {
  for (const isSandbox of [false, true]) await returnAccount(service, appName, { ...merge, isSandbox });
}

type AccountMove = MergedCustomers & Pick<CreditAccount, 'isSandbox'>;

const moveAccount = async (service: Service, appName: string, { from, to, mergeId, isSandbox }: AccountMove) =>
  await retryUntilWritten(async () => {
    const now = service.now();
    const source = await openAccount(service, appName, { username: from, isSandbox }, now);
    const { part, rest, isLast } = splitCredits(source.credits);
    if (Object.keys(part).length === 0) return done;
    const target = await openAccount(service, appName, { username: to, isSandbox }, now);
    const known = await findMove(service, appName, to, { mergeId, isSandbox });
    const earlier = known?.reversedAt === undefined ? known : undefined;
    const moved = { credits: part, holds: source.holds.filter(({ credit }) => Object.hasOwn(part, credit)) };
    const { credits } = addAccounts({ ...source, credits: earlier?.credits ?? {}, holds: [] }, moved);
    const holdIds = [...(earlier?.holdIds ?? []), ...moved.holds.map(({ id }) => id)];
    const move: CreditMove = { mergeId, isSandbox, credits, holdIds, version: known?.version ?? 0 };
    const emptied = { ...source, credits: rest, holds: source.holds.filter((hold) => !moved.holds.includes(hold)) };
    const merged = addAccounts(target, moved);
    const entries = listEntries({ from: emptied, to: merged, moved: part }, move, now);
    const change = { accounts: [emptied, merged], entries, move: { to, move } };
    return (await saveCredits(service, appName, change)) && isLast ? done : undefined;
  });

const returnAccount = async (service: Service, appName: string, { from, to, mergeId, isSandbox }: AccountMove) =>
  await retryUntilWritten(async () => {
    const now = service.now();
    const known = await findMove(service, appName, to, { mergeId, isSandbox });
    if (!known || known.reversedAt !== undefined) return done;
    const [target, source] = await Promise.all(
      [to, from].map(async (username) => await openAccount(service, appName, { username, isSandbox }, now)),
    );
    if (!target || !source) return done;
    const { part, rest: credits, isLast } = splitCredits(known.credits);
    const { rest, returned } = splitAccount(target, { ...known, credits: part });
    const restored = addAccounts(source, returned);
    const move: CreditMove = { ...known, credits, ...(isLast && { reversedAt: now }) };
    const entries = listEntries({ from: rest, to: restored, moved: returned.credits }, move, now);
    const change = { accounts: [rest, restored], entries, move: { to, move } };
    return (await saveCredits(service, appName, change)) && isLast ? done : undefined;
  });

/** Splits off the credits that one write can contain. */
function splitCredits(credits: CreditAccount['credits']) {
  const all = Object.entries(credits);
  const part: CreditAccount['credits'] = Object.fromEntries(all.slice(0, maxCredits));
  const rest: CreditAccount['credits'] = Object.fromEntries(all.slice(maxCredits));
  return { part, rest, isLast: all.length <= maxCredits };
}

interface MovedCredits {
  readonly from: CreditAccount;
  readonly to: CreditAccount;
  readonly moved: CreditAccount['credits'];
}

/** Lists an entry for each account and credit with a balance. */
function listEntries({ from, to, moved }: MovedCredits, move: CreditMove, now: EpochMillis): CreditEntry[] {
  const balances = Object.entries(moved)
    .map(([credit, balance]) => ({ credit, amount: getBalance(balance) }))
    .filter(({ amount }) => amount > 0);
  const sides = [['moved', from] as const, ['received', to] as const];
  return sides.flatMap(([type, account]) =>
    balances.map(({ credit, amount }): CreditEntry => {
      const { username, isSandbox, version } = account;
      // A customer can be merged into several, one after the other.
      const entryId = `credit_${toShortDigest(JSON.stringify([move.mergeId, version, type, credit]), 24)}`;
      const balance = getBalance(findCredit(account, credit));
      return { entryId, username, isSandbox, at: now, type, credit, amount, balance };
    }),
  );
}

/**
 * Forgets an erased customer, whose account is deleted. The next customer of the purchase receives none of its credits.
 */
export const forgetCreditOwner = async (
  service: Service,
  appName: string,
  purchaseId: string,
  username: string,
): Promise<void> => {
  await retryUntilWritten(async () => {
    const purchase = await findPurchaseCredits(service, appName, purchaseId);
    if (purchase?.owner !== username) return done;
    const { owner: _owner, ...rest } = purchase;
    const payments = Object.entries(rest.payments).map(([id, lots]) => [
      id,
      Object.fromEntries(
        Object.entries(lots).map(([credit, lot]) => [credit, { ...lot, owned: 0, demanded: 0, taken: [] }]),
      ),
    ]);
    const forgotten = { ...rest, payments: Object.fromEntries(payments) };
    return (await saveCredits(service, appName, { accounts: [], entries: [], purchase: forgotten })) ? done : undefined;
  });
};
