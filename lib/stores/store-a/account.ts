import type { Millis } from '../../purchases/purchase.ts';
import type { Answered, AppStoreServer } from './app-store-server.ts';
import { misconfigured } from './apple-answer.ts';
import type { AppTransactionPayload, Environment } from './payloads.ts';
import { type Reading, readAppTransaction, readHistory, readStatuses } from './store-reads.ts';
import type { StoreTransaction, SubscriptionStatus } from './store-transaction.ts';
import type { Trust } from './trust.ts';

/** All that a store account owns in the application, as Apple tells it. */
export interface Account {
  readonly transactions: readonly StoreTransaction[];
  readonly statuses: readonly SubscriptionStatus[];
  /** The latest moment on Apple's clock that the answers know; undefined when they show nothing. */
  readonly asOf?: Millis;
  /** False when the history was too long to be read to its end. */
  readonly isComplete: boolean;
}

interface Customer {
  /** Any transaction of the customer, or the id of their download of the application. */
  readonly id: string;
  /** Where it was made, by what Apple signed; production is tried first when that is not known. */
  readonly environment?: Environment;
}

/**
 * Everything of the customer. Undefined when Apple knows the id in neither environment. Throws `ConnectionFailed`, and
 * `InternalError` when Apple refuses our key in both.
 */
export async function readAccount(
  { id, environment = 'Production' }: Customer,
  server: AppStoreServer,
  trust: Trust,
): Promise<Account | undefined> {
  return await inEitherEnvironment(environment, (tried) => accountIn({ environment: tried, server, trust }, id));
}

/**
 * What is found in the first environment, or else in the other one. A key that is refused in the first may be that of an
 * application not released yet, which the sandbox knows. Throws `InternalError` when the first refuses and the other has not.
 */
async function inEitherEnvironment<T>(
  first: Environment,
  read: (environment: Environment) => Promise<Answered<T>>,
): Promise<T | undefined> {
  const answer = await read(first);
  if (answer.kind === 'found') return answer.value;
  const other = await read(first === 'Production' ? 'Sandbox' : 'Production');
  if (other.kind === 'found') return other.value;
  if (answer.kind === 'refused') throw misconfigured(`${first} refuses the API key: ${answer.reason}`);
  return undefined;
}

/** The download of the application: a detail that no answer fails without. */
export async function findAppTransaction(id: string, reading: Reading): Promise<AppTransactionPayload | undefined> {
  try {
    const answer = await readAppTransaction(id, reading);
    return answer.kind === 'found' ? answer.value : undefined;
  } catch {
    return undefined;
  }
}

async function accountIn(reading: Reading, id: string): Promise<Answered<Account>> {
  const [statuses, history] = await Promise.all([readStatuses(id, reading), readHistory(id, reading)]);
  for (const answer of [statuses, history]) if (answer.kind === 'refused') return answer;
  if (statuses.kind !== 'found' && history.kind !== 'found') return { kind: 'missing' };
  const { transactions, isComplete } =
    history.kind === 'found' ? history.value : { transactions: [], isComplete: true };
  const account = { transactions, statuses: statuses.kind === 'found' ? statuses.value : [], isComplete };
  return { kind: 'found', value: { ...account, ...asOf(account) } };
}

function asOf({ transactions, statuses }: Pick<Account, 'transactions' | 'statuses'>): { asOf?: Millis } {
  const signed = [...transactions, ...statuses.flatMap((status) => [status, status.transaction])];
  const dates = signed.flatMap(({ signedAt }) => signedAt ?? []);
  return dates.length === 0 ? {} : { asOf: Math.max(...dates) };
}
