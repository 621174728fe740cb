import type { EventSearchResult } from '../../lib/events/contract.ts';
import { describeProblems } from '../../lib/problems/describe-problems.ts';
import { callApi } from '../api/client.ts';
import { type CursorPage, loadPages } from '../api/cursor-pages.ts';
import { endpoints } from '../api/endpoints.ts';
import { useApi, useLoad } from '../api/use-api.ts';
import { getNow, useNow } from '../clock.ts';
import { Icon } from '../components/icon.tsx';
import { ErrorNotice, Notice, Skeleton } from '../components/notice.tsx';
import { Timeline } from '../components/timeline.tsx';
import { formatNumber, formatPlatform, formatRelative } from '../format.ts';
import { Link } from '../router.tsx';
import { describeEventType } from './event-types.ts';

const dayMs = 86_400_000;
/** An outage is visible within a minute. */
const refreshMs = 30_000;

/** More failures are not counted. */
const maxFailures = 100;

/** Loads the failures of the last 24 hours without failed reads, such as of a customer who does not exist. */
async function loadFailures(signal: AbortSignal): Promise<CursorPage<EventSearchResult>> {
  const query = { reads: 'false', startdate: new Date(getNow() - dayMs).toISOString() } as const;
  return await loadPages(
    async (cursor) =>
      await callApi(endpoints.searchEvents, { params: { tag: 'error' }, query: { ...query, cursor } }, { signal }),
    { isEnough: (rows) => rows.length >= maxFailures },
  );
}

/** What is wrong now: stores, refreshes, webhooks and settings, and the failed events of the last 24 hours. */
export function CurrentProblems() {
  const now = useNow();
  const failures = useLoad(loadFailures, 'failures', { refreshMs });
  const app = useApi(endpoints.getApp, {}, { refreshMs });
  const due = useApi(endpoints.getDue, {}, { refreshMs });
  const stores = useApi(endpoints.listStores, {}, { refreshMs });
  const requests = [failures, app, due, stores];
  const failed = requests.find(({ error }) => error !== undefined);
  const isLoading = requests.some(({ data, error }) => data === undefined && error === undefined);
  if (isLoading)
    return (
      <div class="notice">
        <Skeleton lines={1} />
      </div>
    );
  const { rows: recent = [], nextCursor } = failures.data ?? {};
  const isComplete = nextCursor === undefined;
  const problems = describeProblems(
    {
      ...(app.data && { app: app.data }),
      ...(due.data && { due: due.data }),
      ...(stores.data && { stores: stores.data }),
    },
    { now, formatNumber, formatPlatform, formatRelative },
  );
  if (!failed && isComplete && recent.length === 0 && problems.length === 0)
    return (
      <Notice tone="good" icon="check">
        Nothing is wrong: the stores respond, refreshes and webhooks are in time, and nothing but reads has failed in
        the last 24 hours.
      </Notice>
    );
  const failures24h = `${isComplete ? '' : 'At least '}${formatNumber(recent.length)} failed in the last 24 hours.`;
  const texts = [...problems.map(({ text }) => text), ...(recent.length > 0 ? [failures24h] : [])];
  const isBad = recent.length > 0 || failed !== undefined || problems.some(({ tone }) => tone === 'bad');
  return (
    <details class={`notice notice-${isBad ? 'bad' : 'warn'} problems`}>
      <summary>
        <Icon name="alert" />
        <strong>{texts.length > 1 ? `${texts.length} problems` : 'What is wrong now'}</strong>
        <span class="problems-text">{texts.join(' ')}</span>
      </summary>
      <div class="section">
        {failed && <ErrorNotice error={failed.error} onRetry={failed.reload} />}
        {problems.map(({ id, tone, text, link }) => (
          <Notice key={id} tone={tone} icon="alert">
            {text}{' '}
            {link && (
              <Link to={link.to} {...(link.query && { query: link.query })}>
                {link.label}
              </Link>
            )}
          </Notice>
        ))}
        {recent.length === 0 && !isComplete && (
          <p class="section-description">
            Many reads have failed in the last 24 hours.{' '}
            <Link to="/events" query={{ tag: 'error', reads: 'true' }}>
              Show all failures
            </Link>
          </p>
        )}
        {recent.length > 0 && (
          <>
            <p class="section-description">
              {failures24h}{' '}
              <Link to="/events" query={{ tag: 'error' }}>
                Show all failures
              </Link>
            </p>
            <Timeline
              label="Latest failures"
              entries={recent.slice(0, 3).map(({ eventId, context }) => ({
                id: eventId,
                date: context.eventDate,
                tone: 'bad' as const,
                title: (
                  <Link to="/events/:id" params={{ id: eventId }}>
                    {describeEventType(context.eventType, true)}
                  </Link>
                ),
                detail: context.applicationUsername,
              }))}
            />
          </>
        )}
      </div>
    </details>
  );
}
