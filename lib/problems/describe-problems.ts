import type { InferOutput } from 'valibot';
import type { ContractResponse } from '../api/contract.ts';
import type { getApp } from '../apps/contract.ts';
import type { listStores } from '../stores/contract.ts';
import type { Backlog, getDue } from './contract.ts';

/** The state of an app, as far as the service has reported it. */
export interface AppState {
  readonly app?: Pick<ContractResponse<typeof getApp>, 'stores'> & {
    /** Absent until the operator sets a webhook URL. */
    readonly webhooks?: object;
  };
  readonly due?: Omit<ContractResponse<typeof getDue>, 'appName'>;
  readonly stores?: Pick<ContractResponse<typeof listStores>, 'rows'>;
}

/** Something that is wrong now. `bad`: customers are affected. */
export interface Problem {
  /** Stays the same while the problem lasts. Another problem of the app has another one. */
  readonly id: string;
  readonly tone: 'warn' | 'bad';
  readonly text: string;
  /** The page of the console with the details. */
  readonly link?: { readonly to: string; readonly query?: Readonly<Record<string, string>>; readonly label: string };
}

/** Formats of the reader's language, and the time to which ages refer. */
export interface ProblemFormat {
  readonly now: number;
  formatNumber(value: number): string;
  formatPlatform(platform: string): string;
  formatRelative(date: Date, now: number): string;
}

/** The worker for due items runs every minute, and a restart of the app's server fails a webhook once or twice. */
const normalDelayMs = 10 * 60_000;

/**
 * Describes what is wrong now, the worst first: unreachable and silent stores, expired keys of customers, late
 * refreshes, dead and late webhooks, changes that are not processed, missing settings.
 */
export function describeProblems({ app, due, stores }: AppState, format: ProblemFormat): Problem[] {
  const problems = [
    ...(stores?.rows.flatMap((row) => [
      ...describeStore(row, format),
      ...describeSilence(row, format),
      ...describeExpiredKey(row, format),
    ]) ?? []),
    ...(due ? describeDue(due, format) : []),
    ...(app ? describeSettings(app) : []),
  ];
  return problems.toSorted((a, b) => Number(b.tone === 'bad') - Number(a.tone === 'bad'));
}

function describeDue(due: NonNullable<AppState['due']>, format: ProblemFormat): Problem[] {
  const describe = (work: Work) => describeWork(work, format);
  return [
    ...describe({
      id: 'late-refreshes',
      text: 'Refreshes that are late',
      backlog: due.overdueRefreshes,
      date: 'due',
      isNormalFirst: true,
      impact: 'Renewals and expirations are late, too.',
    }),
    ...due.webhookUrls.flatMap((health) => describeUrl(health, format)),
    ...describe({
      id: 'dead-webhooks',
      text: 'Webhooks without further attempts',
      backlog: due.deadWebhooks,
      impact: "The app's server has not received them.",
      link: deliveriesLink('dead', 'Show and replay them'),
    }),
    ...describe({
      id: 'waiting-webhooks',
      text: 'Webhooks that are not sent yet',
      backlog: due.waitingWebhooks,
      isNormalFirst: true,
      impact: 'The queue of webhooks is late.',
      link: pendingLink,
    }),
    ...describe({
      id: 'stream-failures',
      text: 'Changes that are not processed',
      backlog: due.streamFailures,
      impact: 'Webhooks, credits or statistics are missing.',
    }),
    ...describe({
      id: 'pending-webhooks',
      tone: 'warn',
      text: 'Webhooks that wait for a retry',
      backlog: due.pendingWebhooks,
      isNormalFirst: true,
      impact: "The app's server has not received them.",
      link: pendingLink,
    }),
    ...describeStatistics(due.countedUntil, format),
  ];
}

/** Work that is late or failed. */
interface Work extends Pick<Problem, 'id' | 'text' | 'link'> {
  /** Default: `bad`. */
  readonly tone?: Problem['tone'];
  readonly backlog: InferOutput<typeof Backlog> | undefined;
  /** Event at the date of an item. Default: `created`. */
  readonly date?: 'created' | 'due';
  /** An item is no problem until it is old. */
  readonly isNormalFirst?: true;
  readonly impact: string;
}

/** Describes the number and the age, such as "Webhooks that wait for a retry: 12, the oldest created 3 days ago." */
function describeWork(
  { id, tone = 'bad', text, backlog, date = 'created', isNormalFirst, impact, link }: Work,
  { now, formatNumber, formatRelative }: ProblemFormat,
): Problem[] {
  const { count = 0, isExact, oldest = '' } = backlog ?? {};
  if (count === 0 || (isNormalFirst && now - Date.parse(oldest) <= normalDelayMs)) return [];
  const number = `${isExact ? '' : 'at least '}${formatNumber(count)}`;
  const age = oldest === '' ? '' : `, the oldest ${date} ${formatRelative(new Date(oldest), now)}`;
  return [{ id, tone, text: `${text}: ${number}${age}. ${impact}`, ...(link && { link }) }];
}

const describeSettings = ({ webhooks, stores }: NonNullable<AppState['app']>): Problem[] => [
  // An operator who has switched webhooks off has an empty list of URLs.
  ...(webhooks
    ? []
    : [warn('no-webhook-url', 'The app has no webhook URL: its server receives no changes of purchases.')]),
  ...(stores.some(({ isConnected }) => isConnected) ? [] : [warn('no-store', 'No store is connected.', storesLink)]),
];

const storesLink = { to: '/stores', label: 'Show the stores' };
const deliveriesLink = (state: string, label: string) => ({ to: '/webhooks', query: { state }, label });

const warn = (id: string, text: string, link?: Problem['link']): Problem => ({
  id,
  tone: 'warn',
  text,
  ...(link && { link }),
});

type StoreState = NonNullable<AppState['stores']>['rows'][number];

function describeExpiredKey(
  { platform, expiredKey }: StoreState,
  { now, formatPlatform, formatRelative }: ProblemFormat,
): Problem[] {
  if (!expiredKey) return [];
  const name = formatPlatform(platform);
  const date = formatRelative(new Date(expiredKey.date), now);
  const text =
    `The StoreID keys of customers have expired, so ${name} cannot be queried for their purchases (last attempt ` +
    `${date}). They keep access for one more period: the app must validate them again with a new key.`;
  return [warn(`expired-keys ${platform}`, text, { to: '/events', query: { tag: 'error' }, label: 'Show the events' })];
}

function describeStore(
  { platform, health, lastHour, lastFailure }: StoreState,
  { now, formatNumber, formatPlatform, formatRelative }: ProblemFormat,
): Problem[] {
  if (health !== 'failing' && health !== 'degraded') return [];
  const { numRequests, numFailures } = lastHour;
  const name = formatPlatform(platform);
  const count =
    numFailures === 0
      ? `The last request to ${name} failed`
      : `${formatNumber(numFailures)} of ${formatNumber(numRequests)} requests to ${name} failed in the last hour`;
  const last = lastFailure && `${formatRelative(new Date(lastFailure.date), now)}: ${lastFailure.message}`;
  const text =
    last === undefined ? `${count}.` : numFailures === 0 ? `${count}, ${last}` : `${count}, the last one ${last}`;
  return [{ id: `store ${platform}`, tone: health === 'failing' ? 'bad' : 'warn', text, link: storesLink }];
}

function describeSilence(
  { platform, silence }: StoreState,
  { now, formatNumber, formatPlatform, formatRelative }: ProblemFormat,
): Problem[] {
  if (!silence) return [];
  const text =
    `The last notification of ${formatPlatform(platform)} arrived ${formatRelative(new Date(silence.since), now)}. ` +
    `Usually, there is one at least every ${formatNumber(silence.usualHours)} hours: check the notification URL in the store.`;
  return [warn(`silent ${platform}`, text, storesLink)];
}

/** A lower share is normal: a delivery fails while the app's server restarts. */
const minFailedShare = 0.2;

function describeUrl(
  { url, state, failing, recent }: NonNullable<AppState['due']>['webhookUrls'][number],
  { now, formatRelative }: ProblemFormat,
): Problem[] {
  const id = `webhook-url ${url}`;
  if (state === 'disabled')
    return [
      {
        id,
        tone: 'bad',
        text: `Nothing is sent to ${url}: it responded with 410 Gone.`,
        link: { to: '/webhooks', label: 'Show the webhooks' },
      },
    ];
  if (failing) {
    const since = formatRelative(new Date(failing.since), now);
    const text = `Every webhook to ${url} fails, the first one ${since}: ${failing.message}`;
    return [{ id, tone: 'bad', text, link: pendingLink }];
  }
  const { numFailed, numDeliveries, failureReason } = recent;
  const reason = failureReason === undefined ? '.' : `: ${failureReason}`;
  if (state === 'backoff') return [warn(id, `${url} does not respond, so webhooks wait${reason}`, pendingLink)];
  if (numFailed < 2 || numFailed < minFailedShare * numDeliveries) return [];
  const text = `${numFailed} of the latest ${numDeliveries} webhooks to ${url} have failed${reason}`;
  return [warn(id, text, pendingLink)];
}

const pendingLink = deliveriesLink('pending', 'Show and retry them');

/** Statistics are counted until one to two minutes ago: markers are written every minute and passed within seconds. */
const normalCountDelayMs = 3 * 60_000;

function describeStatistics(countedUntil: string, { now, formatRelative }: ProblemFormat): Problem[] {
  const date = new Date(countedUntil);
  // An earlier release does not report it.
  if (!(now - date.getTime() >= normalCountDelayMs)) return [];
  const text = `Figures, totals of lists and customer summaries are late: they contain what was stored until ${formatRelative(date, now)}.`;
  return [warn('late-statistics', text)];
}
