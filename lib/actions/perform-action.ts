import { createHash } from 'node:crypto';
import type { ActionName } from '../api/schemas.ts';
import type { VerifiedKey } from '../apps/app.ts';
import type { OperationContext } from '../events/operation-context.ts';
import { isPermanent, ServiceError } from '../foundation/errors.ts';
import { omitUndefined } from '../foundation/omit-undefined.ts';
import { parse } from '../foundation/parse.ts';
import type { EpochMillis } from '../foundation/time.ts';
import {
  findPurchase,
  findPurchaseFacts,
  findRefreshState,
  listTransactionsOfPurchases,
  requirePurchase,
} from '../purchases/purchase-table.ts';
import { isMd5, toUuid } from '../purchases/user-aliases.ts';
import { refreshPurchaseNow } from '../refresh/refresh-purchase.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import { runRetentionMs } from '../stores/operation-table.ts';
import { type ActionRequest, isPossible, type PossibleAction, type StoreAnswer } from '../stores/purchase-action.ts';
import type { Store } from '../stores/store.ts';
import type { StoreContext } from '../stores/store-context.ts';
import { ActionBaseline, hasTakenEffect, toBaseline } from './action-effect.ts';
import { type ActionWithVerdict, isAllowedToSupport, listActions, toStoreAction } from './list-actions.ts';
import { resolveAmount } from './resolve-amount.ts';
import { computeRefundableMicros } from './select-payment.ts';

/** An action as an API client requests it. */
export interface ActionInput {
  readonly action: ActionName;
  readonly reason: string;
  readonly transactionId?: string | undefined;
  readonly amountMicros?: number | undefined;
  readonly quantity?: number | undefined;
  readonly days?: number | undefined;
  readonly account?: string | undefined;
}

export interface ActionContext extends OperationContext {
  readonly key: Pick<VerifiedKey, 'id' | 'name' | 'level'>;
}

/** The stored outcome of an action. */
export interface ActionOutcome {
  readonly action: ActionName;
  readonly reason: string;
  readonly effect: string;
  readonly performedAt: EpochMillis;
  readonly performedBy: { readonly id: string; readonly name: string };
  /** Absent if the response of the store was lost, or the store rejected the action. */
  readonly storeAnswer?: StoreAnswer;
  /** Why the store rejected the action. */
  readonly rejection?: string;
  /** The store's state, read after the action, shows the effect. Null if the store does not report it. */
  readonly isConfirmed: boolean | null;
}

/** An outcome with the digest of its request, because an idempotency key must not be used for another request. */
type StoredOutcome = ActionOutcome & { readonly digest: string };

/**
 * Performs an action at the store once per idempotency key, and reads the store's state before and after it. Returns
 * the stored outcome of the same request. Throws `ResourceNotFound` for an unknown purchase, `Forbidden` for a support
 * key without permission, `Conflict` for an action that is not possible or that the store rejects, and
 * `ConnectionFailed` if the store is unavailable: then the request can be repeated with its key.
 */
export async function performAction(
  context: ActionContext,
  purchaseId: string,
  { idempotencyKey, ...input }: ActionInput & { readonly idempotencyKey: string },
): Promise<ActionOutcome> {
  requirePermission(context, input.action);
  const { store, storeContext } = await openStore(context, purchaseId);
  const name = `action#${purchaseId}#${idempotencyKey}`;
  const digest = hashInput(omitUndefined(input));
  const attempt: Attempt = { purchaseId, input, digest, name, store, storeContext, context };
  let isRepeated = true;
  const result = await storeContext.runOnce<StoredOutcome>(
    name,
    async () => {
      isRepeated = false;
      return await runAction(attempt);
    },
    async () => {
      const recovered = await recoverAction(attempt);
      if (recovered) isRepeated = false;
      return recovered;
    },
  );
  if (isRepeated) context.recorder.setType('action.read');
  if (result.digest !== digest) throw usedKeyError();
  if (result.rejection !== undefined) throw new ServiceError('Conflict', result.rejection, { retryable: false });
  const { digest: _digest, ...outcome } = result;
  return outcome;
}

const usedKeyError = (): ServiceError =>
  new ServiceError('Conflict', 'idempotencyKey was used for a different action.', { retryable: false });

/** Checks an action at the store without performing it. */
export async function checkAction(
  context: ActionContext,
  purchaseId: string,
  input: ActionInput,
): Promise<{ readonly effect: string; readonly storeAnswer?: StoreAnswer }> {
  context.recorder.setType('action.read');
  requirePermission(context, input.action);
  const { store, storeContext } = await openStore(context, purchaseId);
  const digest = hashInput({ purchaseId });
  const { request, possible } = await prepare({ purchaseId, input, digest, name: '', store, storeContext, context });
  const storeAnswer = await store.checkAction?.(request, storeContext);
  return { effect: possible.effect, ...omitUndefined({ storeAnswer }) };
}

interface Attempt {
  readonly purchaseId: string;
  readonly input: ActionInput;
  readonly digest: string;
  /** Key of the idempotent run. */
  readonly name: string;
  readonly store: Store;
  readonly storeContext: StoreContext;
  readonly context: ActionContext;
}

const hashInput = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

function requirePermission({ app, key }: ActionContext, action: ActionName): void {
  if (key.level === 'support' && !isAllowedToSupport(app, action))
    throw new ServiceError(
      'Forbidden',
      `The app does not allow ${action} to support keys. The secret key is required.`,
    );
}

async function openStore({ app, recorder, service }: ActionContext, purchaseId: string) {
  const stored = await findPurchase(service, app.name, purchaseId);
  requirePurchase(stored);
  const { platform } = stored.purchase;
  const storeContext = await createStoreContext(service, app.name, { platform, recorder });
  return { store: await loadStore(platform), storeContext };
}

async function runAction({ digest, name, store, storeContext, ...attempt }: Attempt): Promise<StoredOutcome> {
  const prepared = await prepare({ digest, name, store, storeContext, ...attempt });
  const { request, possible } = prepared;
  const earlier = await findBaseline(name, storeContext);
  const baseline = earlier ?? { ...prepared.baseline, digest };
  // Before the request: after a crash, the store's state shows whether it had an effect.
  if (!earlier) await saveBaseline(name, storeContext, baseline);
  const outcome = toOutcome(attempt, possible);
  let storeAnswer: StoreAnswer | undefined;
  try {
    storeAnswer = await store.performAction?.(request, storeContext);
  } catch (error) {
    if (!isPermanent(error)) throw error;
    return { ...outcome, digest, rejection: error.message, isConfirmed: false };
  }
  const isConfirmed = await confirm(request, baseline, attempt);
  return { ...outcome, digest, ...omitUndefined({ storeAnswer }), isConfirmed };
}

/** Finds the state before the first attempt of an action. */
async function findBaseline(name: string, { storedResults }: StoreContext): Promise<ActionBaseline | undefined> {
  const saved = await storedResults?.find(name);
  return saved === undefined ? undefined : parse(ActionBaseline, saved, 'DatabaseError');
}

/** Keeps the state as long as the key is reserved, which each attempt extends. Without it, no effect is recognized. */
async function saveBaseline(name: string, { storedResults }: StoreContext, baseline: ActionBaseline): Promise<void> {
  await storedResults?.save(name, baseline, runRetentionMs);
}

/**
 * Returns the outcome of an earlier attempt whose response was lost, if the store's state shows its effect. Throws
 * `Conflict` if the earlier attempt was a different action: the state would confirm this one.
 */
async function recoverAction({ digest, name, storeContext, ...attempt }: Attempt): Promise<StoredOutcome | undefined> {
  const baseline = await findBaseline(name, storeContext);
  if (!baseline) return undefined;
  if ((baseline.digest ?? digest) !== digest) throw usedKeyError();
  await saveBaseline(name, storeContext, baseline);
  const { purchaseId, input, context } = attempt;
  const { days, account } = input;
  const request = { action: toStoreAction(input.action), ...omitUndefined({ days, account }) };
  await refreshPurchaseNow(withAction(context, request), purchaseId);
  if (!(await readEffect(request, baseline, attempt))) return undefined;
  return { ...toOutcome(attempt, { effect: 'The store had performed the action.' }), digest, isConfirmed: true };
}

/**
 * The state alone shows neither whether a later expiration is an extension, whose notification can arrive later, nor
 * the username of an account that no customer has had before.
 */
const withAction = (context: ActionContext, { action, account }: EffectRequest) => ({
  ...context,
  ...(action === 'extend' && { storeReason: 'EXTENDED' as const }),
  ...(action === 'set-account' && account !== undefined && !isDigest(account) && { storeUser: account }),
});

/** The account is a form of a username at the store and not the username. */
const isDigest = (account: string): boolean => isMd5(account) || /^[0-9a-f]{33,64}$/i.test(account);

const toOutcome = (
  { input: { action, reason }, context: { key, service } }: Pick<Attempt, 'input' | 'context'>,
  { effect }: PossibleAction,
) => ({ action, reason, effect, performedAt: service.now(), performedBy: { id: key.id, name: key.name } });

interface PreparedAction {
  readonly request: ActionRequest;
  readonly possible: PossibleAction;
  readonly baseline: ActionBaseline;
}

/** Queries the store and decides by its current state. */
async function prepare({ purchaseId, input, name, context }: Attempt): Promise<PreparedAction> {
  const { app, key, service } = context;
  await refreshPurchaseNow(context, purchaseId);
  const [state, payments] = await Promise.all([
    findRefreshState(service, app.name, purchaseId),
    listTransactionsOfPurchases(service, app.name, [purchaseId]),
  ]);
  if (!state?.refreshToken) throw new ServiceError('ResourceNotFound', 'The purchase is not found.');
  const { purchase, refreshToken } = state;
  const available = listActions(
    { purchase, payments, hasRefreshToken: true },
    { caller: { app, level: key.level }, now: service.now(), transactionId: input.transactionId },
  ).find(({ action }) => action === input.action);
  const possible = requirePossible(available);
  const part = resolveAmount(input, possible, available?.payment);
  const amountMicros = part ?? (available?.payment && computeRefundableMicros(available.payment));
  requireDetails(input, possible);
  return {
    possible,
    baseline: toBaseline({ purchase, payments }),
    request: {
      action: toStoreAction(input.action),
      purchase,
      refreshToken,
      reason: input.reason,
      isPart: part !== undefined,
      requestId: toRequestId(name),
      ...omitUndefined({ payment: available?.payment, amountMicros, days: input.days, account: input.account }),
    },
  };
}

function requirePossible(action: ActionWithVerdict | undefined): PossibleAction {
  if (action && isPossible(action.verdict)) return action.verdict;
  const why = action && 'why' in action.verdict ? action.verdict.why : 'The store has no such action.';
  throw new ServiceError('Conflict', `The action is not possible. ${why}`, { retryable: false });
}

function requireDetails({ action, days, account }: ActionInput, { maxDays }: PossibleAction): void {
  if (maxDays !== undefined && (days === undefined || days > maxDays))
    throw new ServiceError('InvalidPayload', `days: expected 1 to ${maxDays}.`);
  if (action === 'set-account' && account === undefined)
    throw new ServiceError('InvalidPayload', 'account is missing: the username, or its form at the store.');
}

/** Returns the same UUID for all attempts of an action. */
const toRequestId = (name: string): string => toUuid(createHash('sha256').update(name).digest('hex'), 4);

type EffectRequest = Parameters<typeof hasTakenEffect>[0];

/** Reads the store's state after the action. An unavailable store leaves the action unconfirmed: a refresh follows. */
async function confirm(
  request: EffectRequest,
  baseline: ActionBaseline,
  attempt: Pick<Attempt, 'purchaseId' | 'context'>,
): Promise<boolean | null> {
  try {
    await refreshPurchaseNow(withAction(attempt.context, request), attempt.purchaseId);
  } catch (error) {
    attempt.context.recorder.addContent({
      refreshFailures: [
        { platform: attempt.purchaseId.split(':', 1)[0], reason: ServiceError.fromUnknown(error).message },
      ],
    });
    return false;
  }
  return (await readEffect(request, baseline, attempt)) ?? null;
}

async function readEffect(
  request: EffectRequest,
  baseline: ActionBaseline,
  { purchaseId, context: { app, service } }: Pick<Attempt, 'purchaseId' | 'context'>,
): Promise<boolean | undefined> {
  const [facts, payments] = await Promise.all([
    findPurchaseFacts(service, app.name, purchaseId),
    listTransactionsOfPurchases(service, app.name, [purchaseId]),
  ]);
  if (!facts) return undefined;
  const { purchase, userAliases } = facts;
  return hasTakenEffect(request, baseline, { after: { purchase, payments, userAliases }, now: service.now() });
}
