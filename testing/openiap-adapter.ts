import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { verifyPurchase } from '../lib/openiap/contract.ts';
import { getPurchase } from '../lib/purchases/contract.ts';
import { callEndpoint, callWithSecretKey } from './call.ts';
import type { NotificationRouter } from './notification-router.ts';
import type { TestService } from './service.ts';

/** An adapter of the suite `openiap-conformance`: a behavior throws if the server violates it. */
export interface OpenIapAdapter {
  readonly implementation: string;
  readonly store: 'Apple' | 'Google';
  readonly behaviors: Readonly<Record<string, () => Promise<void>>>;
}

interface AdapterContext {
  readonly service: TestService;
  readonly router: NotificationRouter;
  /** An app with the settings of both stores. */
  readonly keys: IssuedApiKeys;
}

const platforms = { Apple: 'store_a', Google: 'store_b' } as const;

/** The state of a subscription as an app and its server read it. */
interface SubscriptionView {
  readonly isValid: boolean;
  readonly state: string;
  readonly isBillingRetryPeriod?: boolean;
  readonly renewalIntent?: string;
  readonly reasons: readonly string[];
}

/**
 * Creates the adapter for the server behaviors `lifecycle.*`. Fields of the record: grace is `isBillingRetryPeriod`,
 * refunded and revoked are the reasons REFUNDED and REVOKED of its notifications.
 */
export function createOpenIapAdapter(store: OpenIapAdapter['store'], context: AdapterContext): OpenIapAdapter {
  const subscribe = async () => await createSubscription(store, context);
  const behaviors: Record<string, () => Promise<void>> = {
    'lifecycle.purchase-starts-active-entitlement': async () => {
      const { read } = await subscribe();
      requireView(await read(), { isValid: true });
    },
    'lifecycle.expiry-ends-entitlement': async () => {
      const { act, read } = await subscribe();
      await act('expire');
      requireView(await read(), { isValid: false, state: 'EXPIRED' });
    },
    'lifecycle.grace-period-retains-entitlement': async () => {
      const { act, read } = await subscribe();
      await act('fail-payment', { grace: true });
      requireView(await read(), { isValid: true, isBillingRetryPeriod: true });
    },
    'lifecycle.billing-retry-suspends-entitlement': async () => {
      const { act, read } = await subscribe();
      await act('fail-payment', { grace: false });
      requireView(await read(), { isValid: false, renewalIntent: 'Renew' });
      await act('recover');
      requireView(await read(), { isValid: true });
    },
    'lifecycle.refund-ends-entitlement': async () => {
      const { act, read } = await subscribe();
      await act('refund');
      if (store === 'Google') await act('revoke');
      requireView(await read(), { isValid: false, state: 'CANCELED', reason: 'REFUNDED' });
    },
    'lifecycle.revoke-ends-entitlement': async () => {
      const { act, read, share } = await subscribe();
      // Apple revokes what a family member shares. A revoked purchase of the buyer is refunded.
      if (store === 'Apple') await share();
      await act('revoke');
      requireView(await read(), { isValid: false, state: 'CANCELED', reason: 'REVOKED' });
    },
    'lifecycle.cancel-retains-entitlement-until-expiry': async () => {
      const { act, read } = await subscribe();
      await act('cancel');
      requireView(await read(), { isValid: true, renewalIntent: 'Lapse' });
      await act('expire');
      requireView(await read(), { isValid: false, state: 'EXPIRED' });
    },
  };
  return { implementation: 'claimcheck', store, behaviors };
}

type Expected = Partial<Omit<SubscriptionView, 'reasons'>> & { readonly reason?: string };

function requireView({ reasons, ...view }: SubscriptionView, { reason, ...expected }: Expected): void {
  const wrong = Object.entries(expected).filter(([name, value]) => view[name as keyof typeof view] !== value);
  const hasReason = reason === undefined || reasons.includes(reason);
  if (wrong.length > 0 || !hasReason)
    throw new Error(
      `Expected ${JSON.stringify({ ...expected, reason })}, read ${JSON.stringify({ ...view, reasons })}.`,
    );
}

let users = 0;

async function createSubscription(store: OpenIapAdapter['store'], { service, router, keys }: AdapterContext) {
  const platform = platforms[store];
  const form = store === 'Apple' && { form: 'product' };
  const bought = await service.callControl('/purchases', {
    platform,
    productId: 'premium',
    type: 'paid subscription',
    applicationUsername: `conformance-${++users}`,
    ...form,
  });
  let { id, validate } = bought;
  const processNotifications = async (): Promise<void> => {
    await router.waitUntilPosted();
    await router.process(router.take(keys.appName));
  };
  const verify = async () => {
    const { jwsRepresentation: jws, purchaseToken } = validate.transaction;
    const body = store === 'Apple' ? { store: 'apple', jws } : { store: 'google', purchaseToken };
    const headers = { authorization: `Bearer ${keys.publicKey}` };
    return (await callEndpoint(verifyPurchase, { headers, body })).body;
  };
  await verify();
  return {
    /** Continues with the purchase of a family member. */
    async share(): Promise<void> {
      const member = { applicationUsername: `conformance-${++users}` };
      ({ id, validate } = await service.callControl(`/purchases/${id}/share`, { ...form, ...member }));
      await processNotifications();
      await verify();
    },
    async act(action: string, details: object = {}): Promise<void> {
      ({ validate } = await service.callControl(`/purchases/${id}/${action}`, { ...form, ...details }));
      await processNotifications();
    },
    async read(): Promise<SubscriptionView> {
      const { isValid, state } = await verify();
      const { body } = await callWithSecretKey(getPurchase, keys, {
        params: { purchaseId: `${platform}:${id}` },
        query: { include_notifications: 'true' },
      });
      const { isBillingRetryPeriod, renewalIntent, notifications = [] } = body;
      const reasons = notifications.map(({ reason }: { reason: string }) => reason);
      return { isValid, state, isBillingRetryPeriod, renewalIntent, reasons };
    },
  };
}
