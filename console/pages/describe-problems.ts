import type { InferOutput } from 'valibot';
import type { getApp } from '../../lib/api/app.ts';
import type { ContractResponse } from '../../lib/api/contract.ts';
import type { Backlog, getDue } from '../../lib/api/due.ts';
import type { listStores } from '../../lib/api/stores.ts';
import { formatNumber, formatPlatform, formatRelative } from '../format.ts';

/** The state of an app, as far as the service has reported it. */
export interface AppState {
  readonly app?: Pick<ContractResponse<typeof getApp>, 'webhooks' | 'stores'>;
  readonly due?: Pick<
    ContractResponse<typeof getDue>,
    'overdueRefreshes' | 'waitingWebhooks' | 'pendingWebhooks' | 'deadWebhooks' | 'webhookUrls'
  >;
  readonly stores?: Pick<ContractResponse<typeof listStores>, 'rows'>;
}

/** Something that is wrong now. `bad`: customers are affected. */
export interface Problem {
  readonly tone: 'warn' | 'bad';
  readonly text: string;
  /** The page with the details. */
  readonly link?: { readonly to: string; readonly query?: Readonly<Record<string, string>>; readonly label: string };
}

/** The worker for due items runs every minute, and a restart of the app's server fails a webhook once or twice. */
const normalDelayMs = 10 * 60_000;

/**
 * Describes what is wrong now, the worst first: unreachable stores, late refreshes, dead and late webhooks, missing
 * settings.
 */
export function describeProblems({ app, due, stores }: AppState, now: number): Problem[] {
  const problems = [
    ...(stores?.rows.flatMap((row) => describeStore(row, now)) ?? []),
    ...(due ? describeDue(due, now) : []),
    ...(app ? describeSettings(app) : []),
  ];
  return problems.toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
}

const describeDue = (due: NonNullable<AppState['due']>, now: number): Problem[] => [
  ...describeRefreshes(due.overdueRefreshes, now),
  ...due.webhookUrls.flatMap((health) => describeUrl(health, now)),
  ...describeDead(due.deadWebhooks, now),
  ...describeWaiting(due.waitingWebhooks, now),
  ...describePending(due.pendingWebhooks, now),
];

const describeSettings = ({ webhooks, stores }: NonNullable<AppState['app']>): Problem[] => [
  // An operator who has switched webhooks off has an empty list of URLs.
  ...(webhooks ? [] : [warn('The app has no webhook URL: its server receives no changes of purchases.')]),
  ...(stores.some(({ isConnected }) => isConnected) ? [] : [warn('No store is connected.', storesLink)]),
];

const storesLink = { to: '/stores', label: 'Show the stores' };
const deliveriesLink = (state: string, label: string) => ({ to: '/webhooks', query: { state }, label });

const warn = (text: string, link?: Problem['link']): Problem => ({ tone: 'warn', text, ...(link && { link }) });

function describeStore(
  { platform, health, lastHour, lastFailure }: NonNullable<AppState['stores']>['rows'][number],
  now: number,
): Problem[] {
  if (health !== 'failing' && health !== 'degraded') return [];
  const { numRequests, numFailures } = lastHour;
  const name = formatPlatform(platform);
  const count =
    numRequests === 0
      ? `The last request to ${name} failed`
      : `${formatNumber(numFailures)} of ${formatNumber(numRequests)} requests to ${name} failed in the last hour`;
  const last = lastFailure && `${formatRelative(new Date(lastFailure.date), now)}: ${lastFailure.message}`;
  const text =
    last === undefined ? `${count}.` : numRequests === 0 ? `${count}, ${last}` : `${count}, the last one ${last}`;
  return [{ tone: health === 'failing' ? 'bad' : 'warn', text, link: storesLink }];
}

type BacklogState = InferOutput<typeof Backlog>;

function describeRefreshes(backlog: BacklogState, now: number): Problem[] {
  if (!isOld(backlog, now)) return [];
  const text = `Refreshes that are late: ${describeBacklog(backlog, 'due', now)} Renewals and expirations are late, too.`;
  return [{ tone: 'bad', text }];
}

/** A lower share is normal: a delivery fails while the app's server restarts. */
const minFailedShare = 0.2;

function describeUrl(
  { url, state, failing, recent }: NonNullable<AppState['due']>['webhookUrls'][number],
  now: number,
): Problem[] {
  if (state === 'disabled')
    return [
      {
        tone: 'bad',
        text: `Nothing is sent to ${url}: it responded with 410 Gone.`,
        link: { to: '/webhooks', label: 'Show the webhooks' },
      },
    ];
  if (failing) {
    const since = formatRelative(new Date(failing.since), now);
    const text = `Every webhook to ${url} fails, the first one ${since}: ${failing.message}`;
    return [{ tone: 'bad', text, link: pendingLink }];
  }
  if (state === 'backoff') return [warn(`${url} does not respond: webhooks are postponed.`, pendingLink)];
  const { numFailed, numDeliveries } = recent;
  if (numFailed < 2 || numFailed < minFailedShare * numDeliveries) return [];
  return [warn(`${numFailed} of the latest ${numDeliveries} webhooks to ${url} have failed.`, pendingLink)];
}

const pendingLink = deliveriesLink('pending', 'Show and retry them');

function describeDead(backlog: BacklogState, now: number): Problem[] {
  if (backlog.count === 0) return [];
  const text = `Webhooks without further attempts: ${describeBacklog(backlog, 'created', now)} The app's server has not received them.`;
  return [{ tone: 'bad', text, link: deliveriesLink('dead', 'Show and replay them') }];
}

function describeWaiting(backlog: BacklogState, now: number): Problem[] {
  if (!isOld(backlog, now)) return [];
  const text = `Webhooks that are not sent yet: ${describeBacklog(backlog, 'created', now)} The queue of webhooks is late.`;
  return [{ tone: 'bad', text, link: pendingLink }];
}

function describePending(backlog: BacklogState, now: number): Problem[] {
  if (!isOld(backlog, now)) return [];
  const text = `Webhooks that wait for a retry: ${describeBacklog(backlog, 'created', now)}`;
  return [warn(text, pendingLink)];
}

const isOld = ({ oldest }: BacklogState, now: number): boolean =>
  oldest !== undefined && now - Date.parse(oldest) > normalDelayMs;

/** Describes the number and the age, such as "12, the oldest created 3 days ago." */
function describeBacklog({ count, isExact, oldest }: BacklogState, date: 'created' | 'due', now: number): string {
  const number = `${isExact ? '' : 'at least '}${formatNumber(count)}`;
  return oldest === undefined
    ? `${number}.`
    : `${number}, the oldest ${date} ${formatRelative(new Date(oldest), now)}.`;
}
