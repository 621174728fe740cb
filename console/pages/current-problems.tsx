import { endpoints } from '../api/endpoints.ts';
import { useApi } from '../api/use-api.ts';
import { useNow } from '../clock.ts';
import { Section } from '../components/layout.tsx';
import { ErrorNotice, Notice, Skeleton } from '../components/notice.tsx';
import { Timeline } from '../components/timeline.tsx';
import { formatNumber } from '../format.ts';
import { Link } from '../router.tsx';
import { describeEventType } from './event-types.ts';

const dayMs = 86_400_000;
const refreshMs = 60_000;

/** What is wrong now: failed events of the last 24 hours, and settings that keep the app from working. */
export function CurrentProblems() {
  const now = useNow();
  const failures = useApi(endpoints.searchEvents, { params: { tag: 'error' } }, { refreshMs });
  const app = useApi(endpoints.getApp, {}, { refreshMs });
  const error = failures.error ?? app.error;
  if (error !== undefined) return <ErrorNotice error={error} onRetry={failures.error ? failures.reload : app.reload} />;
  if (!failures.data || !app.data)
    return (
      <Section title="What is wrong now">
        <Skeleton lines={1} />
      </Section>
    );
  const recent = failures.data.rows.filter(({ context }) => context.eventDateMs > now - dayMs);
  const problems = [
    ...(app.data.webhooks?.urls.length ? [] : ['The app has no webhook URL: its server does not learn of changes.']),
    ...(app.data.stores.some(({ isConnected }) => isConnected) ? [] : ['No store is connected.']),
  ];
  if (recent.length === 0 && problems.length === 0)
    return (
      <Notice tone="good" icon="check">
        Nothing is wrong: no request, notification or webhook has failed in the last 24 hours.
      </Notice>
    );
  return (
    <Section title="What is wrong now">
      {problems.map((problem) => (
        <Notice key={problem} tone="warn" icon="alert">
          {problem}
        </Notice>
      ))}
      {recent.length > 0 && (
        <>
          <p class="section-description">
            {formatNumber(recent.length)} failed in the last 24 hours.{' '}
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
                  {describeEventType(context.eventType)}
                </Link>
              ),
              detail: context.applicationUsername,
            }))}
          />
        </>
      )}
    </Section>
  );
}
