import { randomBytes } from 'node:crypto';
import * as v from 'valibot';
import { createAccountSettings } from '../account-settings.ts';
import type { EmulatedStore, EmulatedStoreContext, StoreDefinition } from '../emulated-store.ts';
import { type HttpResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { platformTokens } from '../platform.ts';
import { type Account, getApiKey } from './account.ts';
import { createObjects, type SavedObjects, toSavedObjects } from './account-objects.ts';
import { accountProblems } from './account-problems.ts';
import type { AccountState } from './account-state.ts';
import { createActions } from './actions.ts';
import { handleApiCall } from './api.ts';
import { rateLimitedResponse, unavailableResponse } from './api-error.ts';
import { payCheckout } from './checkout.ts';
import { renderCheckoutPage, renderPortalPage } from './hosted-pages.ts';
import { placeOrder } from './place-order.ts';
import { buildValidateBody, listPurchaseIds, toPurchaseSummary } from './purchases.ts';
import { createAccountSchedule } from './run-due.ts';
import { toOutgoingNotification } from './webhook.ts';

const Rows = v.array(v.tuple([v.string(), v.unknown()]));
const SavedAccount = v.object({
  secretKey: v.string(),
  webhookSecret: v.string(),
  settings: v.exactOptional(v.unknown()),
  objects: v.object({
    objects: v.record(v.string(), Rows),
    lineItems: Rows,
    sessionOptions: Rows,
    autoRenewing: v.array(v.string()),
    pendingTrialReminders: v.array(v.string()),
    pendingDueDates: v.exactOptional(v.array(v.string())),
    usage: v.exactOptional(Rows),
    confirmedAt: v.exactOptional(Rows),
    pendingLines: v.exactOptional(Rows),
  }),
});

const defineAccountStore = (platform: string, aliases: readonly string[]): StoreDefinition => ({
  platform,
  aliases,
  hosts: ['api.stripe.com', 'checkout.stripe.com', 'billing.stripe.com'],
  open: async (context) => openAccount(context),
});

/** Stripe through an app's own account. One key opens the objects of live mode and test mode. */
export const stripe = defineAccountStore(platformTokens.stripe, ['stripe']);

/** Stripe through the account of the deployment. */
export const serviceStripe = defineAccountStore(platformTokens.serviceStripe, []);

function openAccount({ now, savedState, emitNotification, deliveries }: EmulatedStoreContext): EmulatedStore {
  const saved = savedState === undefined ? undefined : v.parse(SavedAccount, savedState);
  const secretKey = saved?.secretKey ?? `sk_live_${randomBytes(24).toString('hex')}`;
  const webhookSecret = saved?.webhookSecret ?? `whsec_${randomBytes(24).toString('hex')}`;
  const records = createObjects(saved?.objects satisfies SavedObjects | undefined);
  const accountSettings = createAccountSettings(['failedPayments', 'listLength'], saved?.settings);
  const { current: settings } = accountSettings;
  const state: AccountState = { records, now, settings, emitNotification, getNotificationUrl: deliveries.url };
  const account: Account = { state, secretKey, idempotentResponses: new Map() };
  return {
    settings: { secretKey, webhookSecrets: [webhookSecret] },
    handleCall: (call) => handleCall(account, call),
    acceptsCall: (call) => acceptsCall(account, call),
    toOutgoingNotification: (message) => toOutgoingNotification(webhookSecret, message),
    faultResponses: { down: unavailableResponse, 'rate-limited': rateLimitedResponse },
    accountProblems,
    accountSettings,
    placeOrder: (order) => placeOrder(state, order),
    actions: createActions(state),
    findPurchase: (id) => toPurchaseSummary(records, id),
    validateBody: (id, form) => buildValidateBody(records, id, form),
    payCheckout: (id) => (records.objects['checkout/sessions'].has(id) ? payCheckout(state, id) : undefined),
    products: () => [...records.objects.products.values()].map((product) => ({ ...product })),
    purchases: () => listPurchaseIds(records).flatMap((id) => toPurchaseSummary(records, id) ?? []),
    ...createAccountSchedule(state),
    toSavedState: () => ({ secretKey, webhookSecret, settings: settings(), objects: toSavedObjects(records) }),
  };
}

/** The API key, or the session of a hosted page, decides. */
function acceptsCall({ state, secretKey }: Account, call: StoreHttpRequest): boolean {
  if (call.host === 'api.stripe.com') return getApiKey(call) === secretKey;
  const { objects } = state.records;
  const id = call.path.split('/').at(-1) ?? '';
  return objects['checkout/sessions'].has(id) || objects['billing_portal/sessions'].has(id);
}

function handleCall(account: Account, call: StoreHttpRequest): HttpResponse {
  switch (call.host) {
    case 'api.stripe.com':
      return handleApiCall(account, call);
    case 'checkout.stripe.com':
      return renderCheckoutPage(account.state, call);
    case 'billing.stripe.com':
      return renderPortalPage(account.state, call);
    default:
      return textResponse(404, 'Not Found\n');
  }
}
