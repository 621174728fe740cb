import { type Platform, platformTokens, storeNames } from '../../lib/foundation/platform.ts';
import { notificationPlaces } from '../../lib/health/check-notifications.ts';
import { createFinding, type Finding } from '../../lib/health/finding.ts';
import type { StoreContext } from '../../lib/stores/store-context.ts';
import { createStripeClient } from '../../lib/stores/stripe/stripe-client.ts';

interface SilenceOptions {
  readonly platform: Platform;
  readonly url: string;
}

/** Explains why a notification of a purchase has not arrived, although the service has the purchase. */
export async function explainSilence(context: StoreContext, options: SilenceOptions): Promise<Finding> {
  const { platform } = options;
  if (platform === platformTokens.stripe || platform === platformTokens.serviceStripe)
    return await explainStripe(context, options);
  return createSilenceFinding(context, options, `${storeNames[platform]} has not sent a notification of the purchase.`);
}

const createSilenceFinding = ({ appName }: StoreContext, { platform, url }: SilenceOptions, problem: string): Finding =>
  createFinding(
    'notifications-never-received',
    {
      problem,
      cure: `Enter the notification URL ${url}: ${notificationPlaces[platform]}. ${cures[platform] ?? ''}`.trim(),
    },
    { app: appName, platform },
  );

/** Settings that make the service reject notifications. Its log has the reason of each rejection. */
const cures: Partial<Record<Platform, string>> = {
  [platformTokens.googlePlay]:
    'If the URL is right, compare pushAudience and pushServiceAccount in the settings with the authentication of the push subscription, and the topic with the one in the Play Console.',
  [platformTokens.braintree]:
    'If the URL is right, publicKey and privateKey in the settings must belong to the API key of the webhook.',
};

/**
 * Lists the endpoints of the account: without the URL, nothing is sent; with it, the signing secret is wrong.
 * @see https://docs.stripe.com/api/webhook_endpoints/list
 */
async function explainStripe(context: StoreContext, options: SilenceOptions): Promise<Finding> {
  const { platform, url } = options;
  const stripe = createStripeClient(context);
  const endpoints = await stripe.webhookEndpoints.list({ limit: 100 }).then(
    ({ data }) => data,
    // A restricted key can lack the permission.
    () => undefined,
  );
  const endpoint = endpoints?.find((candidate) => candidate.url === url);
  if (endpoint?.status === 'enabled')
    return createFinding(
      'store-notifications-unverifiable',
      {
        problem: `Stripe has the webhook endpoint ${url}, and no event of the purchase was accepted.`,
        cure: 'Set webhookSecrets to the signing secret of this endpoint with `app set-store`, and select all events.',
      },
      { app: context.appName, platform },
    );
  if (endpoint) return createSilenceFinding(context, options, `The webhook endpoint ${url} is disabled at Stripe.`);
  return createSilenceFinding(
    context,
    options,
    endpoints
      ? `Stripe has no webhook endpoint ${url}.`
      : 'Stripe has not sent an event of the purchase, and its key cannot list the webhook endpoints.',
  );
}
