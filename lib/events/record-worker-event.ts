import type { Deps } from '../deps.ts';
import type { ServiceError } from '../shared/errors.ts';
import { toLoggable } from '../shared/log.ts';
import type { EventRecorder } from './event-recorder.ts';

/** How a piece of work ended that no caller waits for. */
interface WorkerResult {
  readonly recorder: EventRecorder;
  /** What the raw view shows as the request. */
  readonly request: { readonly route: string; readonly [part: string]: unknown };
  readonly response?: unknown;
  readonly failure?: ServiceError;
}

/** Records the event of a worker's work; the work does not fail when its record cannot be written, and the log says so. */
export async function recordWorkerEvent(
  appName: string,
  { recorder, request, response = {}, failure }: WorkerResult,
  { events }: Pick<Deps, 'events'>,
): Promise<void> {
  const { event, raw } = recorder.finish({
    request,
    response,
    outcome: { status: failure?.status ?? 200, ok: !failure, ...(failure && { message: failure.message }) },
    ...(failure && { error: { code: failure.code, status: failure.status, message: failure.message } }),
  });
  await events.save(appName, event, raw).catch((cause: unknown) => {
    console.error(
      JSON.stringify({ level: 'error', app: appName, eventId: recorder.eventId, cause: toLoggable(cause) }),
    );
  });
}
