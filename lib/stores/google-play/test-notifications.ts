import {
  measureStep,
  type NotificationRoute,
  type RouteProblem,
  type RouteRequest,
  type RouteStep,
} from '../notification-route.ts';
import type { StoreContext } from '../store-context.ts';
import { listSubscriptions, type PushSubscription } from './push-subscriptions.ts';
import { type GooglePlaySettings, parseStoredSettings, type ServiceAccount } from './settings.ts';

/**
 * Reads the Pub/Sub subscription that pushes to the URL, if the service account can list subscriptions. Publishes
 * nothing: only the Play Console sends a test notification, and no API returns the topic that is entered there.
 */
export async function testNotifications({ url }: RouteRequest, context: StoreContext): Promise<NotificationRoute> {
  const settings = parseStoredSettings(context.settings);
  const { serviceAccount } = settings;
  if (!serviceAccount) return toRoute({ name, outcome: 'not readable without a service account', durationMs: 0 });
  const { step, result } = await measureStep(name, async () => {
    const search = await findSubscription({ serviceAccount, settings, url }, context);
    return { ...search, outcome: describe(search, serviceAccount) };
  });
  return toRoute(step, result.subscription ? listProblems(result.subscription, settings) : []);
}

const name = 'push subscription';

const toRoute = (step: RouteStep, problems: readonly RouteProblem[] = []): NotificationRoute => ({
  steps: [step],
  problems,
  numDelivered: 0,
});

interface SubscriptionSearch {
  readonly subscription?: PushSubscription;
  /** Projects whose subscriptions were listed. */
  readonly readable: readonly string[];
  readonly unreadable: readonly string[];
}

async function findSubscription(
  {
    serviceAccount,
    settings,
    url,
  }: { readonly serviceAccount: ServiceAccount; readonly settings: GooglePlaySettings; readonly url: string },
  context: StoreContext,
): Promise<SubscriptionSearch> {
  const readable: string[] = [];
  const unreadable: string[] = [];
  for (const project of listProjects([settings.pushServiceAccount, serviceAccount.client_email])) {
    const subscriptions = await listSubscriptions(serviceAccount, project, context);
    (subscriptions ? readable : unreadable).push(project);
    const subscription = subscriptions?.find(({ pushConfig }) => pushConfig.pushEndpoint === url);
    if (subscription) return { subscription, readable, unreadable };
  }
  return { readable, unreadable };
}

/** Returns the Cloud projects of service accounts: an email is `name@project.iam.gserviceaccount.com`. */
const listProjects = (emails: readonly (string | undefined)[]): string[] => [
  ...new Set(emails.flatMap((email = '') => /^[^@]+@([^.]+)\.iam\.gserviceaccount\.com$/.exec(email)?.slice(1) ?? [])),
];

function describe(
  { subscription, readable, unreadable }: SubscriptionSearch,
  { client_email: account }: ServiceAccount,
): string {
  if (subscription) {
    const { state, topic, expirationPolicy } = subscription;
    const expiry = expirationPolicy?.ttl ? `, deleted after ${expirationPolicy.ttl} without activity` : '';
    return `${state}, topic ${topic}${expiry}`;
  }
  if (readable.length > 0) return `no subscription pushes to the URL in the project ${readable.join(' or ')}`;
  if (unreadable.length === 0) return 'not readable: the settings name no Cloud project';
  return `not readable: ${account} lacks the role Pub/Sub Viewer in the project ${unreadable.join(' or ')}`;
}

/** Topic of a subscription whose topic was deleted. */
const deletedTopic = '_deleted-topic_';

function listProblems(subscription: PushSubscription, settings: GooglePlaySettings): RouteProblem[] {
  const { name: id, topic, state, detached, pushConfig } = subscription;
  if (detached || topic === deletedTopic || state !== 'ACTIVE')
    return [
      {
        code: 'endpoint-disabled',
        problem: `The Pub/Sub subscription ${id} receives no messages: ${detached ? 'it is detached' : topic === deletedTopic ? 'its topic is deleted' : `its state is ${state}`}.`,
        cure: 'Create the topic and the push subscription again, and enter the topic in the Play Console, Monetization setup.',
      },
    ];
  const { oidcToken } = pushConfig;
  const { pushAudience, pushServiceAccount } = settings;
  // Pub/Sub uses the URL as the audience if none is set.
  const audience = oidcToken?.audience || pushConfig.pushEndpoint;
  const differences = [
    ...(oidcToken ? [] : ['it sends no token']),
    ...(oidcToken && pushAudience && audience !== pushAudience ? [`its audience is ${audience}`] : []),
    ...(oidcToken && pushServiceAccount && oidcToken.serviceAccountEmail !== pushServiceAccount
      ? [`its service account is ${oidcToken.serviceAccountEmail}`]
      : []),
  ];
  if (differences.length === 0) return [];
  return [
    {
      code: 'endpoint-incomplete',
      problem: `The service rejects the notifications of the Pub/Sub subscription ${id}: ${differences.join(', ')}.`,
      cure: 'Set pushAudience and pushServiceAccount to the authentication of the subscription, and run `app set-store`.',
    },
  ];
}
